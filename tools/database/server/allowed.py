"""What a reading statement may be made of: kinds of syntax and functions, by the names that sqlglot gives them.

Everything that is not named here is refused. The lists hold for every dialect; a dialect adds the functions of its own
that sqlglot knows by name only. What is listed computes a value from its arguments: it neither waits, nor reads files,
settings or other tables, nor runs text as SQL, nor takes locks, nor keeps anything.
"""

from __future__ import annotations

NODES = frozenset(
    """
    Add Adjacent Alias Aliases All Any AtTimeZone Between BitString BitwiseAnd BitwiseLeftShift BitwiseNot BitwiseOr
    BitwiseRightShift BitwiseXor Boolean Bracket ByteString CTE CharacterSet Column ColumnDef Cube DPipe DataType
    DataTypeParam Distance Distinct Div Dot EQ Escape Except ExtendsLeft ExtendsRight Fetch Filter From GT GTE Glob
    Group GroupingSets Having HexString ILike Identifier IgnoreNulls In IndexTableHint IntDiv Intersect Interval
    IntervalSpan Introducer Is JSON JSONColumnDef JSONKeyValue JSONPath JSONPathKey JSONPathRoot JSONPathSubscript
    JSONPathWildcard JSONSchema Join Kwarg LT LTE Lateral Like Limit LimitOptions Literal Match Mod Mul NEQ National
    Neg Not Null NullSafeEQ NullSafeNEQ Offset Order Ordered Overlaps Paren Pseudocolumn RawString
    RecursiveWithSearch RespectNulls Rollup Select SimilarTo Slice Star Sub Subquery TableAlias TableSample Table
    Tuple UnicodeString Union Values Var Where Window WindowSpec With WithinGroup
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
"""Kinds of syntax that are no calls. OPERATOR(schema.name) can name any operator of anybody's, so it is not one."""

FUNCTIONS = frozenset(
    """
    Abs Acos Acosh AddMonths And AnyValue ApproxDistinct ApproxQuantile ArgMax ArgMin Array ArrayAgg ArrayAll
    ArrayAny ArrayAppend ArrayConcat ArrayConcatAgg ArrayContainedBy ArrayContains ArrayContainsAll ArrayDistinct
    ArrayFirst ArrayLast ArrayMax ArrayMin ArrayOverlaps ArrayPosition ArrayPrepend ArrayRemove ArrayReverse
    ArraySize ArraySlice ArraySort ArraySum ArrayToString ArrayUniqueAgg Ascii Asin Asinh Atan Atan2 Atanh Avg
    BitLength BitwiseAndAgg BitwiseCount BitwiseOrAgg BitwiseXorAgg ByteLength Case Cast CastToStrType Cbrt Ceil Chr
    Coalesce Collate Concat ConcatWs Contains Convert ConvertTimezone Corr Cos Cosh Cot Coth Count CountIf CovarPop
    CovarSamp CumeDist CurrentCatalog CurrentDatabase CurrentDate CurrentDatetime CurrentSchema CurrentTime
    CurrentTimestamp CurrentTimestampLTZ CurrentTimezone CurrentUser CurrentVersion Date DateAdd DateBin DateDiff
    DateFromParts DateStrToDate DateSub DateToDateStr DateTrunc Datetime DatetimeAdd DatetimeDiff DatetimeSub
    DatetimeTrunc Day DayOfMonth DayOfWeek DayOfWeekIso DayOfYear Dayname Decode Degrees DenseRank Elt Encode
    EndsWith Exists Exp Explode ExplodingGenerateSeries Extract Factorial First FirstValue Floor Format FromBase64
    GenerateDateArray GenerateSeries GenerateTimestampArray Greatest GroupConcat Grouping GroupingId Hex Hour If
    Initcap IsInf IsNan JSONArray JSONArrayAgg JSONArrayAppend JSONArrayContains JSONArrayInsert JSONBContains
    JSONBContainsAllTopKeys JSONBContainsAnyTopKeys JSONBContainsTopKey JSONBDeleteAtPath JSONBExists JSONBExtract
    JSONBExtractScalar JSONBObjectAgg JSONBPathExists JSONExists JSONExtract JSONExtractArray JSONExtractScalar
    JSONFormat JSONKeys JSONObject JSONObjectAgg JSONRemove JSONSet JSONStripNulls JSONTable JSONType JSONValueArray
    JustifyDays JustifyHours JustifyInterval Kurtosis Lag Last LastDay LastValue Lead Least Left Length Levenshtein
    Ln Localtime Localtimestamp Log LogicalAnd LogicalOr Lower LowerHex MD5 MD5Digest MakeInterval MatchAgainst Max
    Median Min Minute Mode Month Monthname MonthsBetween Normalize NthValue Ntile Nullif NumberToStr Nvl2 Or Overlay
    Pad ParseJSON PercentRank PercentileCont PercentileDisc Pi Pow Quantile Quarter Radians Rand Rank RegexpCount
    RegexpExtract RegexpExtractAll RegexpFullMatch RegexpILike RegexpInstr RegexpLike RegexpReplace RegexpSplit
    RegexpSubstr RegrAvgx RegrAvgy RegrCount RegrIntercept RegrR2 RegrSlope RegrSxx RegrSxy RegrSyy Repeat Replace
    Reverse Right Rint Round RowNumber SHA SHA1Digest SHA2 SHA2Digest SafeDivide Second SessionUser Sign Sin Sinh
    Skewness Soundex Space Split SplitPart Sqrt StandardHash StartsWith Stddev StddevPop StddevSamp StrPosition
    StrToDate StrToTime StrToUnix String StringToArray Strtok Stuff Substring SubstringIndex Sum Tan Tanh Time
    TimeAdd TimeDiff TimeFromParts TimeStrToDate TimeStrToTime TimeStrToUnix TimeSub TimeToStr TimeToTimeStr
    TimeToUnix TimeTrunc Timestamp TimestampAdd TimestampDiff TimestampFromParts TimestampSub TimestampTrunc
    TimestampTzFromParts ToBase64 ToChar ToDays ToDouble ToNumber Translate Trim Trunc TryCast TsOrDiToDi TsOrDsAdd
    TsOrDsDiff TsOrDsToDate TsOrDsToDateStr TsOrDsToDatetime TsOrDsToTime TsOrDsToTimestamp Typeof Unhex Unicode
    UnixDate UnixMicros UnixMillis UnixSeconds UnixToStr UnixToTime UnixToTimeStr Unnest Upper UtcDate UtcTime
    UtcTimestamp Uuid Variance VariancePop Week WeekOfYear WeekStart WidthBucket Xor Year YearOfWeek YearOfWeekIso
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
"""Calls that sqlglot has a kind of syntax for; each is written in a dialect as the function that computes it there."""
