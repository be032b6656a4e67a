"""The functions of Spark that a query may call: those that only compute a value from their arguments.

Everything else is refused by name: what runs methods of Java (`java_method`, `reflect`), tells of files
(`input_file_name`), reads descriptions of types from files that its options name (`from_avro`, `from_protobuf`,
`from_xml`), raises errors, or was made by a user.
"""

from __future__ import annotations

FUNCTIONS = frozenset(
    """
    abs acos acosh add_months aggregate any any_value approx_count_distinct approx_percentile array array_agg
    array_append array_compact array_contains array_distinct array_except array_insert array_intersect array_join
    array_max array_min array_position array_prepend array_remove array_repeat array_size array_sort array_union
    arrays_overlap arrays_zip ascii asin asinh atan atan2 atanh avg base64 bigint bin binary bit_and bit_count
    bit_get bit_length bit_or bit_xor bool_and bool_or boolean bround btrim cardinality cast cbrt ceil ceiling char
    char_length character_length chr coalesce collate collation collect_list collect_set concat concat_ws contains
    conv convert_timezone corr cos cosh cot count count_if covar_pop covar_samp csc cume_dist curdate
    current_catalog current_database current_date current_schema current_time current_timestamp current_timezone
    current_user date date_add date_diff date_format date_from_unix_date date_part date_sub date_trunc dateadd
    datediff datepart day dayname dayofmonth dayofweek dayofyear decimal decode degrees dense_rank double e
    element_at elt encode endswith equal_null every exists exp explode explode_outer expm1 extract factorial filter
    find_in_set first first_value flatten float floor forall format_number format_string from_base32 from_csv
    from_json from_unixtime from_utc_timestamp get get_json_object getbit greatest grouping grouping_id hash hex
    hour hypot if ifnull ilike initcap inline inline_outer instr int is_valid_variant is_variant_null isnan
    isnotnull isnull jaro_winkler_similarity json_array_length json_object_keys json_tuple kurtosis lag last
    last_day last_value lcase lead least left len length levenshtein like listagg ln localtime localtimestamp locate
    log log10 log1p log2 lower lpad ltrim make_date make_dt_interval make_interval make_time make_timestamp
    make_timestamp_ltz make_timestamp_ntz make_ym_interval map map_concat map_contains_key map_entries map_filter
    map_from_arrays map_from_entries map_keys map_values map_zip_with max max_by md5 mean median min min_by minute
    mod mode monotonically_increasing_id month monthname months_between named_struct nanvl negative next_day now
    nth_value ntile nullif nullifzero nvl nvl2 octet_length overlay parse_json parse_url percent_rank percentile
    percentile_approx percentile_cont percentile_disc pi pmod posexplode posexplode_outer position positive pow
    power printf quarter radians rand randn random range rank reduce regexp_count regexp_extract regexp_extract_all
    regexp_instr regexp_like regexp_replace regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right rint rlike round row_number rpad rtrim
    schema_of_json schema_of_variant schema_of_variant_agg sec second sequence session_user sha sha1 sha2 shiftleft
    shiftright shiftrightunsigned shuffle sign signum sin sinh size skewness slice smallint some sort_array soundex
    space split split_part sqrt stack startswith std stddev stddev_pop stddev_samp str_to_map string string_agg
    struct substr substring substring_index sum tan tanh time time_diff time_from_micros time_from_millis
    time_from_seconds time_to_micros time_to_millis time_to_seconds time_trunc timestamp timestamp_micros
    timestamp_millis timestamp_nanos timestamp_seconds tinyint to_base32 to_binary to_char to_csv to_date to_json
    to_number to_time to_timestamp to_timestamp_ltz to_timestamp_ntz to_unix_timestamp to_utc_timestamp to_varchar
    to_variant_object transform transform_keys transform_values translate trim trunc try_add try_avg try_cast
    try_divide try_element_at try_make_interval try_make_timestamp try_make_timestamp_ltz try_make_timestamp_ntz
    try_mod try_multiply try_parse_json try_parse_url try_subtract try_sum try_to_binary try_to_date try_to_number
    try_to_time try_to_timestamp try_url_decode try_variant_get typeof ucase unbase64 unhex unix_date unix_micros
    unix_millis unix_nanos unix_seconds unix_timestamp upper url_decode url_encode user uuid var_pop var_samp
    variance variant_explode variant_explode_outer variant_get variant_strip_nulls version weekday weekofyear
    width_bucket window xxhash64 year zeroifnull zip_with
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
