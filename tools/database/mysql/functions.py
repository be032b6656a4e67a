"""The functions of MySQL and MariaDB that a query may call: those that only compute a value from their arguments.

Everything else is refused by name: what reads files (`LOAD_FILE`), waits or takes locks (`SLEEP`, `GET_LOCK`,
`BENCHMARK`, `MASTER_POS_WAIT`), draws from sequences, keeps something (`LAST_INSERT_ID(n)`), or was made by a user.
"""

from __future__ import annotations

FUNCTIONS = frozenset(
    """
    abs acos adddate addtime any_value ascii asin atan atan2 avg bin bit_and bit_count bit_length bit_or bit_xor
    cast ceil ceiling char char_length character_length chr coalesce coercibility collation columns compress concat
    concat_ws conv convert convert_tz cos cot count crc32 crc32c cume_dist curdate current_date current_role
    current_time current_timestamp current_user curtime database date date_add date_format date_sub datediff day
    dayname dayofmonth dayofweek dayofyear degrees dense_rank div elt exp export_set extract extractvalue field
    find_in_set first_value floor format format_bytes format_pico_time from_base64 from_days from_unixtime
    get_format greatest group_concat grouping hex hour if ifnull inet6_aton inet6_ntoa inet_aton inet_ntoa insert
    instr is_ipv4 is_ipv4_compat is_ipv4_mapped is_ipv6 is_uuid isnull json_array json_array_append
    json_array_insert json_array_intersect json_arrayagg json_compact json_contains json_contains_path json_depth
    json_detailed json_equals json_exists json_extract json_insert json_keys json_length json_loose json_merge
    json_merge_patch json_merge_preserve json_normalize json_object json_objectagg json_overlaps json_pretty
    json_query json_quote json_remove json_replace json_schema_valid json_search json_set json_storage_size
    json_table json_type json_unquote json_valid json_value lag last_day last_value lcase lead least left length
    lengthb ln localtime localtimestamp locate log log10 log2 lower lpad ltrim make_set makedate maketime match max
    md5 median microsecond mid min minute mod month monthname natural_sort_key now nth_value ntile nullif nvl nvl2
    oct octet_length ord percent_rank percentile_cont percentile_disc period_add period_diff pi position pow power
    quarter quote radians rand rank regexp_instr regexp_like regexp_replace regexp_substr repeat replace reverse
    right round row row_number rpad rtrim schema sec_to_time second session_user sha sha1 sha2 sign sin soundex
    space sqrt std stddev stddev_pop stddev_samp str_to_date strcmp subdate substr substring substring_index subtime
    sum sysdate system_user tan time time_format time_to_sec timediff timestamp timestampadd timestampdiff to_base64
    to_char to_days to_seconds trim truncate ucase uncompress uncompressed_length unhex unix_timestamp updatexml
    upper user utc_date utc_time utc_timestamp uuid uuid_to_bin bin_to_uuid var_pop var_samp variance version week
    weekday weekofyear weight_string year yearweek st_area st_asgeojson st_astext st_aswkt st_contains st_distance
    st_distance_sphere st_equals st_geomfromtext st_intersects st_length st_pointfromtext st_within st_x st_y point
    """.split()  # noqa: SIM905 - as a list it would take a line a name
)
