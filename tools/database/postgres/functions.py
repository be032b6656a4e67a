"""The functions of PostgreSQL that a query may call: those that only compute a value from their arguments.

Everything else is refused by name: what reads files or settings, waits, locks, signals, runs text as SQL
(`query_to_xml`, `ts_stat`), draws from sequences, or was made by a user.
"""

from __future__ import annotations

FUNCTIONS = frozenset(
    """
    abs acos acosd acosh age any_value array_agg array_append array_cat array_dims array_fill array_length
    array_lower array_ndims array_position array_positions array_prepend array_remove array_replace array_sample
    array_shuffle array_to_json array_to_string array_upper ascii asin asind asinh atan atan2 atan2d atand atanh avg
    bit_and bit_count bit_length bit_or bit_xor bool_and bool_or broadcast btrim cardinality cbrt ceil ceiling
    char_length character_length chr clock_timestamp coalesce concat concat_ws convert convert_from convert_to corr
    cos cosd cosh cot cotd count covar_pop covar_samp cume_dist current_catalog current_database current_date
    current_role current_schema current_time current_timestamp current_user date date_add date_bin date_part
    date_subtract date_trunc decode degrees dense_rank div encode erf erfc every exp extract factorial family
    first_value floor format gcd gen_random_uuid generate_series generate_subscripts get_bit get_byte greatest
    grouping host hostmask initcap isempty isfinite json_agg json_array json_array_elements json_array_elements_text
    json_array_length json_arrayagg json_build_array json_build_object json_each json_each_text json_exists
    json_extract_path json_extract_path_text json_object json_object_agg json_object_keys json_objectagg
    json_populate_record json_populate_recordset json_query json_scalar json_serialize json_strip_nulls json_table
    json_to_record json_to_recordset json_typeof json_value jsonb_agg jsonb_array_elements jsonb_array_elements_text
    jsonb_array_length jsonb_build_array jsonb_build_object jsonb_each jsonb_each_text jsonb_exists jsonb_exists_all
    jsonb_exists_any jsonb_extract_path jsonb_extract_path_text jsonb_insert jsonb_object jsonb_object_agg
    jsonb_object_keys jsonb_path_exists jsonb_path_exists_tz jsonb_path_match jsonb_path_match_tz jsonb_path_query
    jsonb_path_query_array jsonb_path_query_array_tz jsonb_path_query_first jsonb_path_query_first_tz
    jsonb_path_query_tz jsonb_populate_record jsonb_populate_recordset jsonb_pretty jsonb_set jsonb_set_lax
    jsonb_strip_nulls jsonb_to_record jsonb_to_recordset jsonb_typeof justify_days justify_hours justify_interval
    lag last_value lcm lead least left length ln localtime localtimestamp log log10 lower lower_inc lower_inf lpad
    ltrim make_date make_interval make_time make_timestamp make_timestamptz masklen max md5 min min_scale mod mode
    multirange netmask network normalize now nth_value ntile nullif num_nonnulls num_nulls numnode octet_length
    overlay parse_ident percent_rank percentile_cont percentile_disc phraseto_tsquery pi plainto_tsquery position
    pow power querytree quote_ident quote_literal quote_nullable radians random range_agg range_intersect_agg
    range_merge rank regexp_count regexp_instr regexp_like regexp_match regexp_matches regexp_replace
    regexp_split_to_array regexp_split_to_table regexp_substr regr_avgx regr_avgy regr_count regr_intercept regr_r2
    regr_slope regr_sxx regr_sxy regr_syy repeat replace reverse right round row row_number row_to_json rpad rtrim
    scale session_user set_bit set_byte set_masklen setweight sha224 sha256 sha384 sha512 sign sin sind sinh
    split_part sqrt starts_with statement_timestamp stddev stddev_pop stddev_samp string_agg string_to_array
    string_to_table strip strpos substr substring sum tan tand tanh text timeofday timezone to_ascii to_bin to_char
    to_date to_hex to_json to_jsonb to_number to_oct to_timestamp to_tsquery to_tsvector transaction_timestamp
    translate trim trim_array trim_scale trunc ts_delete ts_filter ts_headline ts_rank ts_rank_cd tsvector_to_array
    unistr unnest upper upper_inc upper_inf user var_pop var_samp variance version websearch_to_tsquery width_bucket
    xmlagg xmlforest area box center circle diagonal diameter height isclosed isopen isparallel ishorizontal
    isvertical line lseg npoints path pclose point polygon popen radius slope width int4range int8range numrange
    tsrange tstzrange daterange int4multirange int8multirange nummultirange tsmultirange tstzmultirange
    datemultirange
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
