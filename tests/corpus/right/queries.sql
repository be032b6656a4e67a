-- SL001 sqlite wholesale: Give me all discontinued items with their list price, dearest first.
SELECT item_no, descr, list_prc FROM item WHERE discontinued = 1 ORDER BY list_prc DESC
-- SL002 sqlite wholesale: Which customers have never placed an order?
SELECT c.cust_no, c.nm FROM cust c LEFT JOIN ord_hd o ON o.cust_no = c.cust_no WHERE o.ord_no IS NULL ORDER BY c.cust_no
-- SL003 sqlite wholesale: Net sales per region in 2024, without cancelled orders. Show regions with nothing as zero.
WITH s AS (SELECT o.cust_no, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100.0)) AS net
           FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no
           WHERE o.stat <> 'X' AND o.ord_dt BETWEEN '2024-01-01' AND '2024-12-31' GROUP BY o.cust_no)
SELECT r.region_nm, ROUND(COALESCE(SUM(s.net), 0), 2) AS net_sales
FROM region r LEFT JOIN cust c ON c.region_cd = r.region_cd LEFT JOIN s ON s.cust_no = c.cust_no
GROUP BY r.region_cd, r.region_nm ORDER BY net_sales DESC
-- SL004 sqlite wholesale: What share of all orders was cancelled, in percent, and how many is that of how many?
SELECT (SELECT COUNT(*) FROM ord_hd WHERE stat = 'X') AS cancelled, (SELECT COUNT(*) FROM ord_hd) AS all_orders,
       ROUND(100.0 * (SELECT COUNT(*) FROM ord_hd WHERE stat = 'X') / (SELECT COUNT(*) FROM ord_hd), 2) AS pct
-- SL005 sqlite wholesale: The two best-selling items by quantity in each category, cancelled orders left out, ties included.
WITH q AS (SELECT i.cat_id, i.item_no, i.descr, SUM(l.qty) AS sold FROM ord_ln l JOIN ord_hd o ON o.ord_no = l.ord_no JOIN item i ON i.item_no = l.item_no
           WHERE o.stat <> 'X' GROUP BY i.cat_id, i.item_no, i.descr),
     k AS (SELECT q.*, RANK() OVER (PARTITION BY cat_id ORDER BY sold DESC) AS pos FROM q)
SELECT c.cat_nm, k.descr, k.sold, k.pos FROM k JOIN cat c ON c.cat_id = k.cat_id WHERE k.pos <= 2 ORDER BY c.cat_nm, k.pos, k.descr
-- SL006 sqlite wholesale: List everything under the Beverages category with its level, including Beverages itself.
WITH RECURSIVE t(cat_id, cat_nm, lvl) AS (
  SELECT cat_id, cat_nm, 0 FROM cat WHERE cat_nm = 'Beverages'
  UNION ALL SELECT c.cat_id, c.cat_nm, t.lvl + 1 FROM cat c JOIN t ON c.parent_cat_id = t.cat_id)
SELECT cat_id, cat_nm, lvl FROM t ORDER BY lvl, cat_nm
-- SL007 sqlite wholesale: Which customers have no email on file, whether missing or blank?
SELECT cust_no, nm FROM cust WHERE email IS NULL OR email = '' ORDER BY cust_no
-- SL008 sqlite wholesale: Which items were never sold on any order that wasn't cancelled?
SELECT i.item_no, i.descr FROM item i
WHERE NOT EXISTS (SELECT 1 FROM ord_ln l JOIN ord_hd o ON o.ord_no = l.ord_no WHERE l.item_no = i.item_no AND o.stat <> 'X') ORDER BY i.item_no
-- SL009 sqlite wholesale: How many orders came in each month of 2024, later cancellations included and months without orders shown too?
WITH RECURSIVE m(d) AS (SELECT '2024-01-01' UNION ALL SELECT date(d, '+1 month') FROM m WHERE d < '2024-12-01')
SELECT strftime('%Y-%m', m.d) AS month, COUNT(o.ord_no) AS orders
FROM m LEFT JOIN ord_hd o ON o.ord_dt >= m.d AND o.ord_dt < date(m.d, '+1 month') GROUP BY m.d ORDER BY m.d
-- SL010 sqlite wholesale: List the sales reps with the name of their manager.
SELECT r.first_nm || ' ' || r.last_nm AS rep, m.first_nm || ' ' || m.last_nm AS manager FROM rep r LEFT JOIN rep m ON m.rep_id = r.mgr_id ORDER BY r.rep_id
-- SL011 sqlite wholesale: Orders per sales channel split by whether they were delivered, shipped, open or cancelled.
SELECT chan, SUM(stat = 'D') AS delivered, SUM(stat = 'S') AS shipped, SUM(stat = 'O') AS open, SUM(stat = 'X') AS cancelled FROM ord_hd GROUP BY chan ORDER BY chan
-- SL012 sqlite wholesale: For each delivered order from the first quarter of 2024: what it was worth net and how much has been paid so far.
WITH v AS (SELECT ord_no, SUM(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100.0)) AS net FROM ord_ln GROUP BY ord_no),
     p AS (SELECT ord_no, SUM(amt) AS paid FROM pay GROUP BY ord_no)
SELECT o.ord_no, ROUND(COALESCE(v.net, 0), 2) AS net, ROUND(COALESCE(p.paid, 0), 2) AS paid
FROM ord_hd o LEFT JOIN v ON v.ord_no = o.ord_no LEFT JOIN p ON p.ord_no = o.ord_no
WHERE o.stat = 'D' AND o.ord_dt BETWEEN '2024-01-01' AND '2024-03-31' ORDER BY o.ord_no
-- SL013 sqlite wholesale: Which customers bought from at least six different categories?
SELECT c.cust_no, c.nm, COUNT(DISTINCT i.cat_id) AS categories
FROM cust c JOIN ord_hd o ON o.cust_no = c.cust_no JOIN ord_ln l ON l.ord_no = o.ord_no JOIN item i ON i.item_no = l.item_no
WHERE o.stat <> 'X' GROUP BY c.cust_no, c.nm HAVING COUNT(DISTINCT i.cat_id) >= 6 ORDER BY categories DESC, c.cust_no
-- SL014 sqlite wholesale: Do we have customer names that appear more than once?
SELECT nm, COUNT(*) AS times FROM cust GROUP BY nm HAVING COUNT(*) > 1
-- SL015 sqlite wholesale: Which items cost more than the average list price in their own category?
SELECT i.item_no, i.descr, i.list_prc FROM item i WHERE i.list_prc > (SELECT AVG(x.list_prc) FROM item x WHERE x.cat_id = i.cat_id) ORDER BY i.item_no
-- SL016 sqlite clinic: Show me our active physicians and when they were hired, longest serving first.
SELECT full_name, specialty, hired_on FROM physician WHERE active = 1 ORDER BY hired_on, full_name
-- SL017 sqlite clinic: No-show rate per physician, as a percentage of appointments that were either kept or missed.
SELECT p.full_name, COUNT(*) AS due, SUM(a.status = 'no_show') AS missed, ROUND(100.0 * SUM(a.status = 'no_show') / COUNT(*), 1) AS no_show_pct
FROM appt a JOIN physician p ON p.phys_id = a.phys_id WHERE a.status IN ('completed', 'no_show') GROUP BY p.phys_id, p.full_name ORDER BY no_show_pct DESC, p.full_name
-- SL018 sqlite clinic: Which patients have never had an appointment with us?
SELECT pat_id, last_name, first_name FROM patient p WHERE NOT EXISTS (SELECT 1 FROM appt a WHERE a.pat_id = p.pat_id) ORDER BY pat_id
-- SL019 sqlite clinic: Which admissions were readmissions, that is within 30 days of the patient's previous discharge?
WITH x AS (SELECT adm_id, pat_id, admitted_at, LAG(discharged_at) OVER (PARTITION BY pat_id ORDER BY admitted_at) AS prev_out FROM admission)
SELECT adm_id, pat_id, admitted_at, prev_out, CAST(julianday(admitted_at) - julianday(prev_out) AS INTEGER) AS days_between
FROM x WHERE julianday(admitted_at) - julianday(prev_out) BETWEEN 0 AND 30 ORDER BY admitted_at
-- SL020 sqlite clinic: How many patients have each allergy?
SELECT j.value AS allergy, COUNT(DISTINCT p.pat_id) AS patients FROM patient p, json_each(p.allergies) j GROUP BY j.value ORDER BY patients DESC, allergy
-- SL021 sqlite clinic: How many patients have no recorded allergies because they have none, and how many because nobody asked?
SELECT SUM(allergies IS NOT NULL AND json_array_length(allergies) = 0) AS confirmed_none, SUM(allergies IS NULL) AS never_asked FROM patient
-- SL022 sqlite clinic: What is the median length of stay in days of finished admissions?
WITH s AS (SELECT julianday(discharged_at) - julianday(admitted_at) AS d FROM admission WHERE discharged_at IS NOT NULL),
     n AS (SELECT d, ROW_NUMBER() OVER (ORDER BY d) AS rn, COUNT(*) OVER () AS c FROM s)
SELECT ROUND(AVG(d), 2) AS median_days FROM n WHERE rn IN ((c + 1) / 2, (c + 2) / 2)
-- SL023 sqlite clinic: The latest potassium value of each patient who has one.
SELECT pat_id, taken_on, value FROM (SELECT pat_id, taken_on, value, ROW_NUMBER() OVER (PARTITION BY pat_id ORDER BY taken_on DESC, lab_id DESC) AS rn
  FROM lab WHERE test = 'Potassium' AND value IS NOT NULL) WHERE rn = 1 ORDER BY pat_id
-- SL024 sqlite clinic: How many admissions has each ward had? I also want wards with none.
SELECT w.ward_name, COUNT(a.adm_id) AS admissions FROM ward w LEFT JOIN admission a ON a.ward_id = w.ward_id GROUP BY w.ward_id, w.ward_name ORDER BY w.ward_name
-- SL025 sqlite clinic: Which bills are still not fully paid, and what is outstanding on each?
SELECT b.bill_id, b.total, b.total - COALESCE((SELECT SUM(p.amount) FROM bill_pay p WHERE p.bill_id = b.bill_id), 0) AS outstanding
FROM bill b WHERE b.total - COALESCE((SELECT SUM(p.amount) FROM bill_pay p WHERE p.bill_id = b.bill_id), 0) > 0.005 ORDER BY outstanding DESC, b.bill_id
-- SL026 sqlite clinic: One list of all phone-less people: patients without a phone number, with a note whether it is missing or blank.
SELECT last_name, first_name, 'missing' AS why FROM patient WHERE phone IS NULL
UNION ALL SELECT last_name, first_name, 'blank' FROM patient WHERE phone = '' ORDER BY 3, 1, 2
-- SL027 sqlite clinic: Which patients with a Circulatory diagnosis were prescribed an anticoagulant?
SELECT p.pat_id, p.last_name FROM patient p
WHERE EXISTS (SELECT 1 FROM appt a JOIN diagnosis d ON d.appt_id = a.appt_id JOIN icd_code i ON i.icd = d.icd WHERE a.pat_id = p.pat_id AND i.chapter = 'Circulatory')
  AND EXISTS (SELECT 1 FROM appt a JOIN rx ON rx.appt_id = a.appt_id JOIN drug g ON g.drug_id = rx.drug_id WHERE a.pat_id = p.pat_id AND g.drug_class = 'Anticoagulant') ORDER BY p.pat_id
-- SL028 sqlite clinic: Completed-visit fees per month in 2025 with the running total for the year.
SELECT month, fees, SUM(fees) OVER (ORDER BY month) AS year_to_date
FROM (SELECT strftime('%Y-%m', starts_at) AS month, SUM(fee) AS fees FROM appt WHERE status = 'completed' AND starts_at >= '2025-01-01' AND starts_at < '2026-01-01' GROUP BY 1) ORDER BY month
-- SL029 sqlite clinic: Is any diagnosis code in our catalogue never used? Name it.
SELECT icd, title FROM icd_code WHERE icd NOT IN (SELECT icd FROM diagnosis)
-- SL030 sqlite clinic: How many patients fall in each age band (under 18, 18 to 64, 65 and over) as of 31 December 2025?
WITH a AS (SELECT CAST(strftime('%Y', '2025-12-31') AS INTEGER) - CAST(strftime('%Y', dob) AS INTEGER) AS age FROM patient)
SELECT CASE WHEN age < 18 THEN 'under 18' WHEN age < 65 THEN '18-64' ELSE '65+' END AS band, COUNT(*) AS patients FROM a GROUP BY band ORDER BY MIN(age)
-- SL031 sqlite saas: For each plan: the monthly fee, how many live subscriptions it has, and its share of all live subscriptions in percent. Include plans nobody is on.
SELECT p.title, p.monthly_fee, (SELECT COUNT(*) FROM sub s WHERE s.plan_code = p.plan_code AND s.end_on IS NULL) AS live,
       ROUND(100.0 * (SELECT COUNT(*) FROM sub s WHERE s.plan_code = p.plan_code AND s.end_on IS NULL) / (SELECT COUNT(*) FROM sub WHERE end_on IS NULL), 1) AS pct FROM plan p ORDER BY p.tier_rank
-- SL032 sqlite saas: Exports by file format: how many and how many rows in total?
SELECT json_extract(props, '$.format') AS format, COUNT(*) AS exports, SUM(json_extract(props, '$.rows')) AS rows_exported
FROM evt WHERE evt_name = 'export' AND props IS NOT NULL GROUP BY 1 ORDER BY exports DESC, format
-- SL033 sqlite saas: How many organisations use the dark theme, the light theme, or have no theme set?
SELECT COALESCE(json_extract(settings, '$.theme'), 'not set') AS theme, COUNT(*) AS orgs FROM org GROUP BY 1 ORDER BY orgs DESC, theme
-- SL034 sqlite saas: What is our monthly recurring revenue today by plan, counting live subscriptions including past-due ones, priced at seats times the plan's monthly fee?
SELECT p.title, COUNT(*) AS subscriptions, SUM(s.seats) AS seats, SUM(s.seats * p.monthly_fee) AS mrr
FROM sub s JOIN plan p ON p.plan_code = s.plan_code WHERE s.end_on IS NULL GROUP BY p.plan_code, p.title ORDER BY mrr DESC
-- SL035 sqlite saas: Which features has nobody switched on?
SELECT f.feature_key, f.area FROM feature f LEFT JOIN org_feature o ON o.feature_key = f.feature_key WHERE o.org_id IS NULL
-- SL036 sqlite saas: What is our net promoter score for 2025?
SELECT COUNT(*) AS answers, ROUND(100.0 * (SUM(score >= 9) - SUM(score <= 6)) / COUNT(*), 1) AS nps FROM nps WHERE answered_on BETWEEN '2025-01-01' AND '2025-12-31'
-- SL037 sqlite saas: Which organisations have every feature of the security area enabled?
SELECT o.org_id, o.org_name FROM org o JOIN org_feature x ON x.org_id = o.org_id JOIN feature f ON f.feature_key = x.feature_key
WHERE f.area = 'security' GROUP BY o.org_id, o.org_name HAVING COUNT(*) = (SELECT COUNT(*) FROM feature WHERE area = 'security') ORDER BY o.org_id
-- SL038 sqlite saas: For every organisation: number of members, number of tickets and number of invoices.
SELECT o.org_name, (SELECT COUNT(*) FROM member m WHERE m.org_id = o.org_id) AS members,
       (SELECT COUNT(*) FROM ticket t WHERE t.org_id = o.org_id) AS tickets, (SELECT COUNT(*) FROM inv i WHERE i.org_id = o.org_id) AS invoices
FROM org o ORDER BY o.org_name
-- SL039 sqlite saas: Which customers moved to a higher plan, from which to which and when?
WITH x AS (SELECT s.org_id, s.start_on, p.title, p.tier_rank, LAG(p.title) OVER w AS prev_title, LAG(p.tier_rank) OVER w AS prev_rank
           FROM sub s JOIN plan p ON p.plan_code = s.plan_code WINDOW w AS (PARTITION BY s.org_id ORDER BY s.start_on))
SELECT o.org_name, x.prev_title AS from_plan, x.title AS to_plan, x.start_on FROM x JOIN org o ON o.org_id = x.org_id WHERE x.tier_rank > x.prev_rank ORDER BY x.start_on, o.org_name
-- SL040 sqlite saas: Support: average hours to close by priority, and how many tickets are still open.
SELECT priority, COUNT(*) AS tickets, SUM(closed_at IS NULL) AS still_open, ROUND(AVG((julianday(closed_at) - julianday(opened_at)) * 24), 1) AS avg_hours
FROM ticket GROUP BY priority ORDER BY CASE priority WHEN 'urgent' THEN 1 WHEN 'high' THEN 2 WHEN 'normal' THEN 3 ELSE 4 END
-- SL041 sqlite saas: Customers at risk: organisations with at least one open ticket, with the number of open tickets, seats on live subscriptions and the day of their last activity.
WITH t AS (SELECT org_id, COUNT(*) AS open_tickets FROM ticket WHERE closed_at IS NULL GROUP BY org_id),
     s AS (SELECT org_id, SUM(seats) AS seats FROM sub WHERE end_on IS NULL GROUP BY org_id),
     a AS (SELECT m.org_id, MAX(date(e.ts_utc)) AS last_day FROM evt e JOIN member m ON m.member_id = e.member_id GROUP BY m.org_id)
SELECT o.org_name, t.open_tickets, COALESCE(s.seats, 0) AS live_seats, a.last_day FROM t JOIN org o ON o.org_id = t.org_id LEFT JOIN s ON s.org_id = t.org_id LEFT JOIN a ON a.org_id = t.org_id ORDER BY t.open_tickets DESC, o.org_name
-- SL042 sqlite saas: Which members used the product in at least five different months between July and December 2025?
SELECT m.member_id, m.email, COUNT(DISTINCT strftime('%m', e.ts_utc)) AS months FROM evt e JOIN member m ON m.member_id = e.member_id WHERE date(e.ts_utc) BETWEEN '2025-07-01' AND '2025-12-31' GROUP BY m.member_id, m.email HAVING COUNT(DISTINCT strftime('%m', e.ts_utc)) >= 5 ORDER BY months DESC, m.member_id
-- SL043 sqlite saas: Members who logged in since October 2025 but never exported anything at all.
SELECT m.member_id, m.email FROM member m
WHERE EXISTS (SELECT 1 FROM evt e WHERE e.member_id = m.member_id AND e.evt_name = 'login' AND e.ts_utc >= '2025-10-01')
  AND NOT EXISTS (SELECT 1 FROM evt e WHERE e.member_id = m.member_id AND e.evt_name = 'export') ORDER BY m.member_id
-- SL044 sqlite saas: The three largest invoices that are not void, by amount whatever the currency; if there is a tie at the end show all of them.
WITH t AS (SELECT i.inv_id, i.org_id, i.currency, SUM(l.amount) AS total FROM inv i JOIN inv_line l ON l.inv_id = i.inv_id WHERE i.state <> 'void' GROUP BY i.inv_id, i.org_id, i.currency)
SELECT inv_id, org_id, currency, total FROM (SELECT t.*, RANK() OVER (ORDER BY total DESC) AS r FROM t) WHERE r <= 3 ORDER BY total DESC, inv_id
-- SL045 sqlite saas: How many invoices are overdue as of 31 December 2025 (still open, past due), and the oldest due date?
SELECT '2025-12-31' AS as_of, COUNT(*) AS overdue, MIN(due_on) AS oldest_due FROM inv WHERE state = 'open' AND due_on < '2025-12-31'
-- SL046 sqlite hr: Who works here today? Names and hire dates, newest first.
SELECT given, family, hire_dt FROM emp WHERE term_dt IS NULL ORDER BY hire_dt DESC, emp_id
-- SL047 sqlite hr: Everybody still employed below Paul Hart in the reporting line, with how many levels down.
WITH RECURSIVE t(emp_id, lvl) AS (SELECT emp_id, 0 FROM emp WHERE given = 'Paul' AND family = 'Hart' UNION ALL SELECT e.emp_id, t.lvl + 1 FROM emp e JOIN t ON e.mgr_id = t.emp_id)
SELECT e.given, e.family, t.lvl FROM t JOIN emp e ON e.emp_id = t.emp_id WHERE t.lvl > 0 AND e.term_dt IS NULL ORDER BY t.lvl, e.family, e.given
-- SL048 sqlite hr: What does each current employee earn per year right now (latest salary entry)?
SELECT e.emp_id, e.given, e.family, s.annual FROM emp e JOIN sal_hist s ON s.emp_id = e.emp_id
WHERE e.term_dt IS NULL AND s.eff_dt = (SELECT MAX(x.eff_dt) FROM sal_hist x WHERE x.emp_id = e.emp_id) ORDER BY s.annual DESC, e.emp_id
-- SL049 sqlite hr: Headcount by unit of people still employed, units with nobody too.
SELECT u.unit_name, COUNT(e.emp_id) AS headcount FROM org_unit u LEFT JOIN emp e ON e.unit_id = u.unit_id AND e.term_dt IS NULL GROUP BY u.unit_id, u.unit_name ORDER BY headcount DESC, u.unit_name
-- SL050 sqlite hr: For each pay rise on record: old salary, new salary and the increase in percent.
SELECT emp_id, eff_dt, prev AS old_salary, annual AS new_salary, ROUND(100.0 * (annual - prev) / prev, 1) AS pct
FROM (SELECT emp_id, eff_dt, annual, LAG(annual) OVER (PARTITION BY emp_id ORDER BY eff_dt) AS prev FROM sal_hist) WHERE annual > prev ORDER BY emp_id, eff_dt
-- SL051 sqlite hr: Which current employees have not passed Fire Safety yet?
SELECT e.emp_id, e.given, e.family FROM emp e WHERE e.term_dt IS NULL
  AND NOT EXISTS (SELECT 1 FROM enrol n JOIN course c ON c.course_id = n.course_id WHERE n.emp_id = e.emp_id AND c.title = 'Fire Safety' AND n.passed_dt IS NOT NULL) ORDER BY e.emp_id
-- SL052 sqlite hr: Does anyone earn more than their own manager at the moment?
WITH cur AS (SELECT s.emp_id, s.annual FROM sal_hist s WHERE s.eff_dt = (SELECT MAX(x.eff_dt) FROM sal_hist x WHERE x.emp_id = s.emp_id))
SELECT e.given, e.family, c.annual, m.given AS mgr_given, m.family AS mgr_family, d.annual AS mgr_annual
FROM emp e JOIN emp m ON m.emp_id = e.mgr_id JOIN cur c ON c.emp_id = e.emp_id JOIN cur d ON d.emp_id = m.emp_id WHERE c.annual > d.annual AND e.term_dt IS NULL AND m.term_dt IS NULL ORDER BY e.emp_id
-- SL053 sqlite hr: Payroll cost (gross plus overtime) for each 2025 payroll month, with a total line at the end.
SELECT r.period_end AS period, ROUND(SUM(p.gross + COALESCE(p.overtime, 0)), 2) AS cost FROM payslip p JOIN payrun r ON r.run_id = p.run_id GROUP BY r.run_id, r.period_end
UNION ALL SELECT 'total', ROUND(SUM(gross + COALESCE(overtime, 0)), 2) FROM payslip ORDER BY 1
-- SL054 sqlite hr: How many sick days did each person take in 2024, counting both the first and the last day? Only people with any.
SELECT e.given, e.family, SUM(CAST(julianday(MIN(a.to_dt, '2024-12-31')) - julianday(MAX(a.from_dt, '2024-01-01')) AS INTEGER) + 1) AS sick_days
FROM absence a JOIN emp e ON e.emp_id = a.emp_id WHERE a.kind = 'sick' AND a.from_dt <= '2024-12-31' AND a.to_dt >= '2024-01-01'
GROUP BY e.emp_id, e.given, e.family ORDER BY sick_days DESC, e.family, e.given
-- SL055 sqlite hr: Joiners and leavers since 2024 in one list by date.
SELECT hire_dt AS on_date, 'joined' AS what, given || ' ' || family AS who FROM emp WHERE hire_dt >= '2024-01-01'
UNION ALL SELECT term_dt, 'left', given || ' ' || family FROM emp WHERE term_dt >= '2024-01-01' ORDER BY 1, 3
-- SL056 sqlite hr: Share of men and women among current staff.
SELECT gender, COUNT(*) AS people, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS pct FROM emp WHERE term_dt IS NULL GROUP BY gender ORDER BY gender
-- SL057 sqlite hr: Of our current staff, how many have a company address (ending in @corp.example), how many a blank address, how many none?
SELECT SUM(email LIKE '%@corp.example') AS company_address, SUM(email = '') AS blank, SUM(email IS NULL) AS none, COUNT(*) AS staff FROM emp WHERE term_dt IS NULL
-- SL058 sqlite hr: Is there anybody who appears more than once in the same payroll run?
SELECT run_id, emp_id, COUNT(*) AS slips FROM payslip GROUP BY run_id, emp_id HAVING COUNT(*) > 1
-- SL059 sqlite hr: Who belongs to the leadership circle? Everyone who has people reporting to them today, plus all directors and team managers, each person once. Only people still employed.
SELECT m.emp_id, m.given, m.family FROM emp m JOIN emp e ON e.mgr_id = m.emp_id WHERE e.term_dt IS NULL AND m.term_dt IS NULL
UNION SELECT emp_id, given, family FROM emp WHERE job_cd IN ('DIR', 'MGR') AND term_dt IS NULL ORDER BY 1
-- SL060 sqlite hr: Who knows both SQL and Python at level 3 or better?
SELECT e.given, e.family FROM emp e JOIN skill s ON s.emp_id = e.emp_id WHERE s.skill IN ('SQL', 'Python') AND s.lvl >= 3 GROUP BY e.emp_id, e.given, e.family HAVING COUNT(DISTINCT s.skill) = 2 ORDER BY e.emp_id
-- SL061 sqlite energy: Which accounts have an average bill above the average of all bills? Void bills don't count; show both averages.
SELECT a.acct_id, a.holder, ROUND(AVG(b.amt), 2) AS their_avg, (SELECT ROUND(AVG(amt), 2) FROM bill WHERE status <> 'VOID') AS overall_avg
FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN acct a ON a.acct_id = c.acct_id WHERE b.status <> 'VOID' GROUP BY a.acct_id, a.holder
HAVING AVG(b.amt) > (SELECT AVG(amt) FROM bill WHERE status <> 'VOID') ORDER BY their_avg DESC
-- SL062 sqlite energy: Consumption between consecutive readings for meter E70100.
SELECT r.read_dt, r.kwh_total - LAG(r.kwh_total) OVER (ORDER BY r.read_dt) AS kwh_since_last, r.src FROM reading r JOIN meter m ON m.meter_id = r.meter_id WHERE m.serial = 'E70100' ORDER BY r.read_dt
-- SL063 sqlite energy: Which meters have no readings at all?
SELECT m.meter_id, m.serial FROM meter m LEFT JOIN reading r ON r.meter_id = m.meter_id WHERE r.meter_id IS NULL
-- SL064 sqlite energy: Today's day price per kWh of every tariff; tariffs without a current price shown blank. Take 1 June 2025 as today.
SELECT t.label, r.price_kwh FROM tariff t LEFT JOIN tariff_rate r ON r.tariff_id = t.tariff_id AND r.band = 'DAY' AND r.valid_from <= '2025-06-01' AND (r.valid_to IS NULL OR r.valid_to >= '2025-06-01') ORDER BY t.tariff_id
-- SL065 sqlite energy: How much was billed and how much received per account, void bills not counted? Biggest debt first, only accounts that owe something.
WITH b AS (SELECT c.acct_id, SUM(b.amt) AS billed FROM bill b JOIN contract c ON c.contract_id = b.contract_id WHERE b.status <> 'VOID' GROUP BY c.acct_id),
     r AS (SELECT c.acct_id, SUM(x.amt) AS received FROM receipt x JOIN bill b ON b.bill_no = x.bill_no JOIN contract c ON c.contract_id = b.contract_id WHERE b.status <> 'VOID' GROUP BY c.acct_id)
SELECT a.acct_id, a.holder, ROUND(b.billed, 2) AS billed, ROUND(COALESCE(r.received, 0), 2) AS received, ROUND(b.billed - COALESCE(r.received, 0), 2) AS owed
FROM b JOIN acct a ON a.acct_id = b.acct_id LEFT JOIN r ON r.acct_id = b.acct_id WHERE ROUND(b.billed - COALESCE(r.received, 0), 2) > 0 ORDER BY owed DESC
-- SL066 sqlite energy: Key figures in one row: meters still installed, contracts running on 30 June 2025, date of the latest reading, number of unpaid bills and their total.
SELECT (SELECT COUNT(*) FROM meter WHERE removed IS NULL) AS meters, (SELECT COUNT(*) FROM contract WHERE start_dt <= '2025-06-30' AND (end_dt IS NULL OR end_dt >= '2025-06-30')) AS contracts,
       (SELECT MAX(read_dt) FROM reading) AS last_reading, (SELECT COUNT(*) FROM bill WHERE status = 'DUE') AS unpaid_bills, (SELECT ROUND(SUM(amt), 2) FROM bill WHERE status = 'DUE') AS unpaid_total
-- SL067 sqlite energy: Which meters report a tamper alert?
SELECT m.meter_id, m.serial FROM meter m WHERE EXISTS (SELECT 1 FROM json_each(m.config, '$.alerts') j WHERE j.value = 'tamper') ORDER BY m.meter_id
-- SL068 sqlite energy: Billed kWh by quarter, 2024 beside 2025, leaving out void bills.
SELECT (CAST(strftime('%m', period_from) AS INTEGER) + 2) / 3 AS quarter,
       SUM(CASE WHEN strftime('%Y', period_from) = '2024' THEN kwh END) AS kwh_2024, SUM(CASE WHEN strftime('%Y', period_from) = '2025' THEN kwh END) AS kwh_2025
FROM bill WHERE status <> 'VOID' GROUP BY 1 ORDER BY 1
-- SL069 sqlite energy: By the year accounts were opened: how many accounts, and how many of them have complained at least once?
SELECT strftime('%Y', a.opened) AS opened_in, COUNT(*) AS accounts, SUM(EXISTS (SELECT 1 FROM complaint k WHERE k.acct_id = a.acct_id)) AS complained FROM acct a GROUP BY 1 ORDER BY 1
-- SL070 sqlite energy: In which different areas do we have business customers?
SELECT DISTINCT r.area_name FROM acct a JOIN contract c ON c.acct_id = a.acct_id JOIN meter m ON m.meter_id = c.meter_id JOIN premise p ON p.premise_id = m.premise_id JOIN area r ON r.area_id = p.area_id WHERE a.kind = 'B' ORDER BY 1
-- SL071 sqlite energy: Which accounts have both a complaint and an unpaid bill?
SELECT acct_id FROM complaint INTERSECT SELECT c.acct_id FROM contract c JOIN bill b ON b.contract_id = c.contract_id WHERE b.status = 'DUE' ORDER BY 1
-- SL072 sqlite energy: Number of bills, average bill amount, and how the largest one compares to that average, without void ones? Note the currency, which is EUR.
SELECT COUNT(*) AS bills, ROUND(AVG(amt), 2) AS average, MAX(amt) AS largest, ROUND(MAX(amt) / AVG(amt), 2) AS times_average, 'EUR' AS currency FROM bill WHERE status <> 'VOID'
-- SL073 sqlite energy: The longest outage in each area (finished ones only).
SELECT area_name, outage_id, minutes FROM (SELECT a.area_name, o.outage_id, CAST(ROUND((julianday(o.ended) - julianday(o.began)) * 1440) AS INTEGER) AS minutes,
   RANK() OVER (PARTITION BY o.area_id ORDER BY ROUND((julianday(o.ended) - julianday(o.began)) * 1440) DESC) AS r FROM outage o JOIN area a ON a.area_id = o.area_id WHERE o.ended IS NOT NULL) WHERE r = 1 ORDER BY area_name
-- SL074 sqlite energy: Are there accounts that have an email but were closed? Name them.
SELECT acct_id, holder, email, closed FROM acct WHERE closed IS NOT NULL AND email IS NOT NULL AND email <> '' ORDER BY acct_id
-- SL075 sqlite energy: Which accounts have been on more than one tariff for the same meter?
SELECT a.acct_id, a.holder, m.serial, COUNT(DISTINCT c.tariff_id) AS tariffs FROM contract c JOIN acct a ON a.acct_id = c.acct_id JOIN meter m ON m.meter_id = c.meter_id
GROUP BY a.acct_id, a.holder, m.meter_id, m.serial HAVING COUNT(DISTINCT c.tariff_id) > 1 ORDER BY a.acct_id
-- DU001 duckdb wholesale: Credit check: for customers with a credit limit, the unpaid value of shipped and delivered orders and how much of the limit that uses, in percent. Only those who owe more than 100.
WITH v AS (SELECT ord_no, SUM(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100)) AS net FROM ord_ln GROUP BY ord_no),
     p AS (SELECT ord_no, SUM(amt) AS paid FROM pay GROUP BY ord_no),
     d AS (SELECT o.cust_no, SUM(v.net - COALESCE(p.paid, 0)) AS owed FROM ord_hd o JOIN v USING (ord_no) LEFT JOIN p USING (ord_no) WHERE o.stat IN ('S', 'D') GROUP BY o.cust_no)
SELECT c.cust_no, c.nm, c.credit_lim, ROUND(d.owed, 2) AS owed, ROUND(100 * d.owed / c.credit_lim, 1) AS used_pct FROM d JOIN cust c USING (cust_no) WHERE c.credit_lim IS NOT NULL AND d.owed > 100 ORDER BY used_pct DESC
-- DU002 duckdb wholesale: Top customer by net sales in each region; cancelled orders don't count.
SELECT r.region_nm, c.nm, ROUND(SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)), 2) AS net
FROM ord_hd o JOIN ord_ln l USING (ord_no) JOIN cust c USING (cust_no) JOIN region r USING (region_cd) WHERE o.stat <> 'X' GROUP BY r.region_nm, c.cust_no, c.nm
QUALIFY RANK() OVER (PARTITION BY r.region_nm ORDER BY SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) DESC) = 1 ORDER BY net DESC
-- DU003 duckdb wholesale: The most recent order of each customer, whatever became of it.
SELECT cust_no, ord_no, ord_dt, stat FROM ord_hd QUALIFY ROW_NUMBER() OVER (PARTITION BY cust_no ORDER BY ord_dt DESC, ord_no DESC) = 1 ORDER BY cust_no
-- DU004 duckdb wholesale: Returned pieces per month in 2024, months without returns as 0.
SELECT strftime(m.m, '%Y-%m') AS month, COALESCE(SUM(r.qty), 0) AS pieces FROM generate_series(DATE '2024-01-01', DATE '2024-12-01', INTERVAL 1 MONTH) AS m(m) LEFT JOIN rtn r ON date_trunc('month', r.rtn_dt) = m.m GROUP BY m.m ORDER BY m.m
-- DU005 duckdb wholesale: Number of orders placed, cancelled or not, per customer segment (down) and year (across).
SELECT * FROM (SELECT c.seg, year(o.ord_dt) AS yr FROM ord_hd o JOIN cust c USING (cust_no)) PIVOT (COUNT(*) FOR yr IN (2023, 2024, 2025)) ORDER BY seg
-- DU006 duckdb wholesale: Net sales against budget per region for the whole of 2024 with the attainment in percent, cancelled orders excluded.
WITH b AS (SELECT region_cd, SUM(target) AS target FROM budget WHERE yr = 2024 GROUP BY region_cd),
     s AS (SELECT c.region_cd, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net FROM ord_hd o JOIN ord_ln l USING (ord_no) JOIN cust c USING (cust_no) WHERE o.stat <> 'X' AND year(o.ord_dt) = 2024 GROUP BY c.region_cd)
SELECT r.region_nm, b.target, ROUND(COALESCE(s.net, 0), 2) AS net, ROUND(100 * COALESCE(s.net, 0) / b.target, 1) AS attained_pct FROM b JOIN region r USING (region_cd) LEFT JOIN s USING (region_cd) ORDER BY attained_pct DESC
-- DU007 duckdb wholesale: ABC analysis: items by net sales with the cumulative share of total, without cancelled orders.
WITH s AS (SELECT l.item_no, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net FROM ord_ln l JOIN ord_hd o USING (ord_no) WHERE o.stat <> 'X' GROUP BY l.item_no)
SELECT i.descr, ROUND(s.net, 2) AS net, ROUND(100 * SUM(s.net) OVER (ORDER BY s.net DESC, s.item_no) / SUM(s.net) OVER (), 1) AS cum_pct FROM s JOIN item i USING (item_no) ORDER BY s.net DESC, s.item_no
-- DU008 duckdb wholesale: Median and average net value of an order, looking only at orders that weren't cancelled and have at least one line.
WITH v AS (SELECT ord_no, SUM(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100)) AS net FROM ord_ln JOIN ord_hd USING (ord_no) WHERE stat <> 'X' GROUP BY ord_no)
SELECT ROUND(MEDIAN(net), 2) AS median_value, ROUND(AVG(net), 2) AS average_value, COUNT(*) AS orders FROM v
-- DU009 duckdb wholesale: Categories that have no items directly in them.
SELECT c.cat_id, c.cat_nm FROM cat c ANTI JOIN item i ON i.cat_id = c.cat_id ORDER BY c.cat_id
-- DU010 duckdb wholesale: Which pairs of items were ordered together most often? Top five pairs; leave cancelled orders out; on equal counts go by item number.
SELECT a.descr AS item_1, b.descr AS item_2, COUNT(DISTINCT x.ord_no) AS orders FROM ord_ln x JOIN ord_ln y ON y.ord_no = x.ord_no AND y.item_no > x.item_no JOIN ord_hd o ON o.ord_no = x.ord_no JOIN item a ON a.item_no = x.item_no JOIN item b ON b.item_no = y.item_no
WHERE o.stat <> 'X' GROUP BY a.item_no, b.item_no, a.descr, b.descr ORDER BY orders DESC, a.item_no, b.item_no LIMIT 5
-- DU011 duckdb wholesale: Each item's list price, its margin over cost in percent and the average margin of all items with a known cost.
SELECT descr, list_prc, std_cost, ROUND(100 * (list_prc - std_cost) / list_prc, 1) AS margin_pct, (SELECT ROUND(AVG(100 * (list_prc - std_cost) / list_prc), 1) FROM item) AS avg_margin_pct FROM item ORDER BY margin_pct DESC NULLS LAST, item_no
-- DU012 duckdb wholesale: Are there orders that were delivered but have no ship date?
SELECT ord_no, cust_no, ord_dt FROM ord_hd WHERE stat = 'D' AND ship_dt IS NULL
-- DU013 duckdb wholesale: Money movements of order 5020: the value of each line, then each payment as a negative amount.
SELECT 'line ' || ln_no AS what, CAST(ROUND(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100), 2) AS DECIMAL(12,2)) AS amount FROM ord_ln WHERE ord_no = 5020
UNION ALL SELECT 'payment ' || strftime(pay_dt, '%Y-%m-%d'), -amt FROM pay WHERE ord_no = 5020 ORDER BY 1
-- DU014 duckdb wholesale: Average number of days between consecutive orders per customer with at least five orders, cancelled ones counting too.
WITH g AS (SELECT cust_no, ord_dt - LAG(ord_dt) OVER (PARTITION BY cust_no ORDER BY ord_dt, ord_no) AS gap FROM ord_hd)
SELECT c.nm, COUNT(*) AS orders, ROUND(AVG(gap), 1) AS avg_days_between FROM g JOIN cust c USING (cust_no) GROUP BY c.cust_no, c.nm HAVING COUNT(*) >= 5 ORDER BY avg_days_between, c.nm
-- DU015 duckdb wholesale: Quantities sold by category and item with category subtotals and a grand total, non-cancelled orders.
SELECT COALESCE(c.cat_nm, 'TOTAL') AS category, CASE WHEN GROUPING(i.descr) = 1 THEN 'all items' ELSE i.descr END AS item, SUM(l.qty) AS qty FROM ord_ln l JOIN ord_hd o USING (ord_no) JOIN item i USING (item_no) JOIN cat c USING (cat_id)
WHERE o.stat <> 'X' GROUP BY ROLLUP (c.cat_nm, i.descr) ORDER BY GROUPING(c.cat_nm), c.cat_nm, GROUPING(i.descr), i.descr
-- DU016 duckdb clinic: Which patients were either admitted or came for an urgent completed visit in 2025? Each patient once.
SELECT p.pat_id, p.last_name, p.first_name FROM admission a JOIN patient p USING (pat_id) WHERE year(a.admitted_at) = 2025
UNION SELECT p.pat_id, p.last_name, p.first_name FROM appt v JOIN patient p USING (pat_id) WHERE v.visit_type = 'urgent' AND v.status = 'completed' AND year(v.starts_at) = 2025 ORDER BY 1
-- DU017 duckdb clinic: Patients with two or more known allergies.
SELECT last_name, first_name, allergies FROM patient WHERE len(allergies) >= 2 ORDER BY last_name, first_name
-- DU018 duckdb clinic: What percentage of patients whose allergies were recorded is allergic to each substance?
SELECT a.allergy, COUNT(*) AS patients, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM patient WHERE allergies IS NOT NULL), 1) AS pct FROM (SELECT UNNEST(allergies) AS allergy FROM patient) a GROUP BY a.allergy ORDER BY a.allergy
-- DU019 duckdb clinic: The highest HbA1c ever measured for each patient and when.
SELECT pat_id, value, taken_on FROM lab WHERE test = 'HbA1c' AND value IS NOT NULL QUALIFY ROW_NUMBER() OVER (PARTITION BY pat_id ORDER BY value DESC, taken_on DESC) = 1 ORDER BY value DESC, pat_id
-- DU020 duckdb clinic: The quartiles of the completed visit fee.
SELECT quantile_cont(fee, 0.25) AS q1, quantile_cont(fee, 0.5) AS median, quantile_cont(fee, 0.75) AS q3 FROM appt WHERE status = 'completed'
-- DU021 duckdb clinic: Visit types by outcome: completed, missed, cancelled and still to come.
SELECT visit_type, COUNT(*) FILTER (WHERE status = 'completed') AS completed, COUNT(*) FILTER (WHERE status = 'no_show') AS missed, COUNT(*) FILTER (WHERE status = 'cancelled') AS cancelled, COUNT(*) FILTER (WHERE status = 'booked') AS to_come FROM appt GROUP BY ALL ORDER BY visit_type
-- DU022 duckdb clinic: Appointments that follow a no-show of the same patient: which status did the next one have?
SELECT pat_id, starts_at, status, LAG(starts_at) OVER w AS missed_at FROM appt WINDOW w AS (PARTITION BY pat_id ORDER BY starts_at) QUALIFY LAG(status) OVER w = 'no_show' ORDER BY pat_id, starts_at
-- DU023 duckdb clinic: Average number of occupied beds per ward over January to June 2025, counted at midnight at the start of each day.
SELECT w.ward_name, w.beds, ROUND(COUNT(a.adm_id) / 181.0, 2) AS avg_occupied FROM ward w CROSS JOIN generate_series(TIMESTAMP '2025-01-01', TIMESTAMP '2025-06-30', INTERVAL 1 DAY) AS g(d)
LEFT JOIN admission a ON a.ward_id = w.ward_id AND a.admitted_at <= g.d AND (a.discharged_at IS NULL OR a.discharged_at > g.d) GROUP BY w.ward_id, w.ward_name, w.beds ORDER BY w.ward_name
-- DU024 duckdb clinic: Which doctors treated more than ten different patients (completed visits)?
SELECT h.full_name, COUNT(DISTINCT a.pat_id) AS patients, COUNT(*) AS visits FROM appt a JOIN physician h USING (phys_id) WHERE a.status = 'completed' GROUP BY h.phys_id, h.full_name HAVING COUNT(DISTINCT a.pat_id) > 10 ORDER BY patients DESC, h.full_name
-- DU025 duckdb clinic: Completed visits that were never billed.
SELECT a.appt_id, a.starts_at, a.fee FROM appt a WHERE a.status = 'completed' AND NOT EXISTS (SELECT 1 FROM bill b WHERE b.appt_id = a.appt_id) ORDER BY a.appt_id
-- DU026 duckdb clinic: Revenue billed by quarter of 2025 split into the insurers' part and the patients' own part, as separate rows.
WITH b AS (SELECT quarter(billed_on) AS q, SUM(insurer_share) AS ins, SUM(total - insurer_share) AS own FROM bill WHERE year(billed_on) = 2025 GROUP BY 1)
SELECT q, 'insurers' AS part, ins AS amount FROM b UNION ALL SELECT q, 'patients', own FROM b ORDER BY q, part
-- DU027 duckdb clinic: For each physician, how many completed visits and the date of the last one, those without visits as well.
SELECT h.full_name, (SELECT COUNT(*) FROM appt a WHERE a.phys_id = h.phys_id AND a.status = 'completed') AS visits, (SELECT MAX(a.starts_at)::DATE FROM appt a WHERE a.phys_id = h.phys_id AND a.status = 'completed') AS last_visit FROM physician h ORDER BY visits DESC, h.full_name
-- DU028 duckdb clinic: Patients sharing a last name: which names and how many people?
SELECT last_name, COUNT(*) AS people FROM patient GROUP BY last_name HAVING COUNT(*) > 1 ORDER BY last_name
-- DU029 duckdb clinic: For each chapter of diagnoses, the codes actually used as primary diagnosis, in one list.
SELECT i.chapter, string_agg(DISTINCT d.icd, ', ' ORDER BY d.icd) AS codes, COUNT(*) AS diagnoses FROM diagnosis d JOIN icd_code i USING (icd) WHERE d.is_primary GROUP BY i.chapter ORDER BY diagnoses DESC, i.chapter
-- DU030 duckdb clinic: Per lab test: samples, how many lack a result, how many were above the upper limit, and the test's share of all samples.
SELECT test, COUNT(*) AS samples, COUNT(*) - COUNT(value) AS without_result, COUNT(*) FILTER (WHERE value > ref_high) AS too_high, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM lab), 1) AS pct_of_samples FROM lab GROUP BY test ORDER BY test
-- DU031 duckdb saas: Members by the year they joined: how many, how many of them did anything in the last quarter of 2025, and that as a percentage.
WITH act AS (SELECT DISTINCT member_id FROM evt WHERE ts_utc >= DATE '2025-10-01' AND ts_utc < DATE '2026-01-01')
SELECT year(m.joined_on) AS joined_in, COUNT(*) AS members, COUNT(a.member_id) AS active, ROUND(100.0 * COUNT(a.member_id) / COUNT(*), 1) AS pct FROM member m LEFT JOIN act a USING (member_id) GROUP BY 1 ORDER BY 1
-- DU032 duckdb saas: Organisations tagged both beta and churn-risk.
SELECT org_name, tags FROM org WHERE list_contains(tags, 'beta') AND list_contains(tags, 'churn-risk') ORDER BY org_name
-- DU033 duckdb saas: Event counts per event type, per device and overall in one table; ignore events that carry no details.
SELECT evt_name, device, COUNT(*) AS events FROM (SELECT evt_name, props->>'$.device' AS device FROM evt WHERE props IS NOT NULL) x GROUP BY GROUPING SETS ((evt_name), (device), ()) ORDER BY GROUPING(evt_name), GROUPING(device), evt_name, device
-- DU034 duckdb saas: How often do searches find nothing? Percentage of searches with zero hits.
SELECT COUNT(*) AS searches, COUNT(*) FILTER (WHERE CAST(props->>'$.hits' AS INTEGER) = 0) AS no_hits, ROUND(100.0 * COUNT(*) FILTER (WHERE CAST(props->>'$.hits' AS INTEGER) = 0) / COUNT(*), 1) AS pct FROM evt WHERE evt_name = 'search' AND props IS NOT NULL
-- DU035 duckdb saas: Retention: of members who joined in the second half of 2024, how many had any event in July, August and September 2025?
SELECT COUNT(*) AS joined, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM evt e WHERE e.member_id = m.member_id AND date_trunc('month', e.ts_utc) = DATE '2025-07-01')) AS july,
       COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM evt e WHERE e.member_id = m.member_id AND date_trunc('month', e.ts_utc) = DATE '2025-08-01')) AS august,
       COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM evt e WHERE e.member_id = m.member_id AND date_trunc('month', e.ts_utc) = DATE '2025-09-01')) AS september
FROM member m WHERE m.joined_on BETWEEN DATE '2024-07-01' AND DATE '2024-12-31'
-- DU036 duckdb saas: The most active member in each organisation by number of events, ties kept.
SELECT o.org_name, m.email, COUNT(*) AS events FROM evt e JOIN member m USING (member_id) JOIN org o USING (org_id) GROUP BY o.org_id, o.org_name, m.member_id, m.email QUALIFY RANK() OVER (PARTITION BY o.org_id ORDER BY COUNT(*) DESC) = 1 ORDER BY o.org_name, m.email
-- DU037 duckdb saas: What plan is each organisation on according to its latest subscription, and is it still live?
SELECT o.org_name, arg_max(p.title, s.start_on) AS latest_plan, arg_max(s.end_on IS NULL, s.start_on) AS live FROM sub s JOIN org o USING (org_id) JOIN plan p USING (plan_code) GROUP BY o.org_id, o.org_name ORDER BY o.org_name
-- DU038 duckdb saas: Median number of days customers stayed on a subscription that has ended, by plan.
SELECT p.title, COUNT(*) AS ended, MEDIAN(s.end_on - s.start_on) AS median_days FROM sub s JOIN plan p USING (plan_code) WHERE s.end_on IS NOT NULL GROUP BY p.plan_code, p.title ORDER BY median_days DESC
-- DU039 duckdb saas: Outstanding amount on open invoices per organisation, by currency.
SELECT o.org_name, i.currency, COUNT(DISTINCT i.inv_id) AS invoices, SUM(l.amount) AS outstanding FROM inv i JOIN inv_line l USING (inv_id) JOIN org o USING (org_id) WHERE i.state = 'open' GROUP BY o.org_id, o.org_name, i.currency ORDER BY outstanding DESC, o.org_name
-- DU040 duckdb saas: Ticket labels against priority: one row per label.
SELECT l.label, COUNT(*) FILTER (WHERE priority = 'urgent') AS urgent, COUNT(*) FILTER (WHERE priority = 'high') AS high, COUNT(*) FILTER (WHERE priority = 'normal') AS normal, COUNT(*) FILTER (WHERE priority = 'low') AS low
FROM ticket t, UNNEST(t.labels) AS l(label) GROUP BY l.label ORDER BY l.label
-- DU041 duckdb saas: Tickets nobody ever replied to.
SELECT t.ticket_id, t.opened_at, t.priority FROM ticket t LEFT JOIN ticket_msg m ON m.ticket_id = t.ticket_id WHERE m.msg_id IS NULL ORDER BY t.ticket_id
-- DU042 duckdb saas: Weekly number of events for the full weeks from 6 October to 28 December 2025 with a four-week moving average.
WITH w AS (SELECT date_trunc('week', ts_utc)::DATE AS wk, COUNT(*) AS events FROM evt WHERE ts_utc >= DATE '2025-10-06' AND ts_utc < DATE '2025-12-29' GROUP BY 1)
SELECT wk, events, ROUND(AVG(events) OVER (ORDER BY wk ROWS BETWEEN 3 PRECEDING AND CURRENT ROW), 2) AS avg_4w FROM w ORDER BY wk
-- DU043 duckdb saas: Members who have answered NPS but never opened a ticket.
SELECT member_id FROM nps EXCEPT SELECT opened_by FROM ticket WHERE opened_by IS NOT NULL ORDER BY 1
-- DU044 duckdb saas: The comments from NPS answers of detractors (6 or below) that actually say something, oldest first, one line per answer.
SELECT comment FROM nps WHERE score <= 6 AND comment <> '' ORDER BY answered_on
-- DU045 duckdb saas: Do any organisations have two subscriptions running over the same days?
SELECT a.org_id, a.sub_id, b.sub_id AS other_sub FROM sub a JOIN sub b ON a.org_id = b.org_id AND a.sub_id < b.sub_id AND a.start_on <= COALESCE(b.end_on, DATE '9999-12-31') AND b.start_on <= COALESCE(a.end_on, DATE '9999-12-31')
-- DU046 duckdb hr: Current salary of each person in the Customer Care unit next to the median of everyone still employed and the average for their own job.
WITH cur AS (SELECT e.emp_id, e.given, e.family, e.unit_id, e.job_cd, arg_max(s.annual, s.eff_dt) AS annual FROM emp e JOIN sal_hist s USING (emp_id) WHERE e.term_dt IS NULL GROUP BY ALL)
SELECT c.given, c.family, c.annual, (SELECT MEDIAN(annual) FROM cur) AS company_median, (SELECT ROUND(AVG(x.annual), 0) FROM cur x WHERE x.job_cd = c.job_cd) AS job_average FROM cur c JOIN org_unit u USING (unit_id) WHERE u.unit_name = 'Customer Care' ORDER BY c.annual DESC, c.emp_id
-- DU047 duckdb hr: The best-paid current employee in each unit.
WITH cur AS (SELECT emp_id, annual FROM sal_hist QUALIFY ROW_NUMBER() OVER (PARTITION BY emp_id ORDER BY eff_dt DESC) = 1)
SELECT u.unit_name, e.given, e.family, c.annual FROM emp e JOIN cur c USING (emp_id) JOIN org_unit u USING (unit_id) WHERE e.term_dt IS NULL QUALIFY RANK() OVER (PARTITION BY u.unit_id ORDER BY c.annual DESC) = 1 ORDER BY c.annual DESC
-- DU048 duckdb hr: The chain of command of Anton Kern, from him up to the top.
WITH RECURSIVE t AS (SELECT emp_id, given, family, mgr_id, 0 AS step FROM emp WHERE given = 'Anton' AND family = 'Kern' UNION ALL SELECT e.emp_id, e.given, e.family, e.mgr_id, t.step + 1 FROM emp e JOIN t ON e.emp_id = t.mgr_id)
SELECT step, given, family FROM t ORDER BY step
-- DU049 duckdb hr: Average current salary of women and men by job, only jobs that have both; and the women's average as a percentage of the men's.
WITH cur AS (SELECT emp_id, arg_max(annual, eff_dt) AS annual FROM sal_hist GROUP BY emp_id)
SELECT j.job_title, ROUND(AVG(c.annual) FILTER (WHERE e.gender = 'F'), 0) AS women, ROUND(AVG(c.annual) FILTER (WHERE e.gender = 'M'), 0) AS men, ROUND(100 * AVG(c.annual) FILTER (WHERE e.gender = 'F') / AVG(c.annual) FILTER (WHERE e.gender = 'M'), 1) AS pct
FROM emp e JOIN cur c USING (emp_id) JOIN job j USING (job_cd) WHERE e.term_dt IS NULL GROUP BY j.job_cd, j.job_title HAVING COUNT(DISTINCT e.gender) = 2 ORDER BY pct
-- DU050 duckdb hr: How much has each current employee's salary grown since they started, in percent? Only those with at least two entries.
WITH g AS (SELECT emp_id, arg_min(annual, eff_dt) AS first_sal, arg_max(annual, eff_dt) AS last_sal, COUNT(*) AS n FROM sal_hist GROUP BY emp_id)
SELECT e.given, e.family, g.first_sal, g.last_sal, ROUND(100 * (g.last_sal - g.first_sal) / g.first_sal, 1) AS growth_pct FROM g JOIN emp e USING (emp_id) WHERE g.n >= 2 AND e.term_dt IS NULL ORDER BY growth_pct DESC, e.emp_id
-- DU051 duckdb hr: All current employees with unit and office city; don't drop anyone without a unit or city.
SELECT e.given, e.family, u.unit_name, l.city FROM emp e LEFT JOIN org_unit u ON u.unit_id = e.unit_id LEFT JOIN loc l ON l.loc_id = u.loc_id WHERE e.term_dt IS NULL ORDER BY e.emp_id
-- DU052 duckdb hr: Offices where no unit is located.
SELECT city, country FROM loc l WHERE NOT EXISTS (SELECT 1 FROM org_unit u WHERE u.loc_id = l.loc_id)
-- DU053 duckdb hr: Absences that started in 2024: count per kind and quarter.
SELECT kind, COUNT(*) FILTER (WHERE quarter(from_dt) = 1) AS q1, COUNT(*) FILTER (WHERE quarter(from_dt) = 2) AS q2, COUNT(*) FILTER (WHERE quarter(from_dt) = 3) AS q3, COUNT(*) FILTER (WHERE quarter(from_dt) = 4) AS q4, COUNT(*) AS total FROM absence WHERE year(from_dt) = 2024 GROUP BY kind ORDER BY kind
-- DU054 duckdb hr: Headcount at the end of each year from 2018 to 2024.
SELECT y.y AS year, COUNT(e.emp_id) AS headcount FROM generate_series(2018, 2024) AS y(y) LEFT JOIN emp e ON e.hire_dt <= make_date(y.y, 12, 31) AND (e.term_dt IS NULL OR e.term_dt > make_date(y.y, 12, 31)) GROUP BY y.y ORDER BY y.y
-- DU055 duckdb hr: Which current employees took home less than the average net pay in the August 2025 payroll? Net is gross minus tax and pension; overtime aside.
SELECT e.given, e.family, p.gross - p.tax - p.pension AS net FROM payslip p JOIN emp e USING (emp_id) WHERE p.run_id = 202508 AND e.term_dt IS NULL
  AND p.gross - p.tax - p.pension < (SELECT AVG(gross - tax - pension) FROM payslip WHERE run_id = 202508) ORDER BY net, e.emp_id
-- DU056 duckdb hr: Gross pay in August 2025 by country and city of the unit's office, with totals; unknown office shown as such.
SELECT CASE WHEN GROUPING(COALESCE(l.country, 'unknown')) = 1 THEN 'ALL' ELSE COALESCE(l.country, 'unknown') END AS country, CASE WHEN GROUPING(COALESCE(l.city, 'unknown')) = 1 THEN 'ALL' ELSE COALESCE(l.city, 'unknown') END AS city, SUM(p.gross) AS gross
FROM payslip p JOIN emp e USING (emp_id) LEFT JOIN org_unit u USING (unit_id) LEFT JOIN loc l USING (loc_id) WHERE p.run_id = 202508 GROUP BY ROLLUP (COALESCE(l.country, 'unknown'), COALESCE(l.city, 'unknown')) ORDER BY 1, 2
-- DU057 duckdb hr: For each skill, who masters it at level 5?
SELECT s.skill, string_agg(e.given || ' ' || e.family, ', ' ORDER BY e.family, e.given) AS experts FROM skill s JOIN emp e USING (emp_id) WHERE s.lvl = 5 AND e.term_dt IS NULL GROUP BY s.skill ORDER BY s.skill
-- DU058 duckdb hr: Average days to fill a vacancy by job, plus how many of that job are still unfilled.
SELECT job_cd, COUNT(*) AS vacancies, COUNT(*) FILTER (WHERE filled_dt IS NULL) AS unfilled, ROUND(AVG(filled_dt - opened_dt), 1) AS avg_days FROM vacancy GROUP BY job_cd ORDER BY job_cd
-- DU059 duckdb hr: Which people are both enrolled in Leadership Basics and currently manage somebody who still works here?
SELECT e.emp_id, e.given, e.family FROM emp e JOIN enrol n USING (emp_id) JOIN course c USING (course_id) WHERE c.title = 'Leadership Basics' AND e.term_dt IS NULL AND EXISTS (SELECT 1 FROM emp s WHERE s.mgr_id = e.emp_id AND s.term_dt IS NULL) ORDER BY e.emp_id
-- DU060 duckdb hr: Did anyone get more than one review in the same year?
SELECT emp_id, yr, COUNT(*) AS reviews FROM review GROUP BY emp_id, yr HAVING COUNT(*) > 1
-- DU061 duckdb energy: Bills more than one and a half times as high as the average non-void bill of the same tariff, void ones left out.
SELECT b.bill_no, t.label, b.amt, (SELECT ROUND(AVG(x.amt), 2) FROM bill x JOIN contract y USING (contract_id) WHERE y.tariff_id = c.tariff_id AND x.status <> 'VOID') AS tariff_avg
FROM bill b JOIN contract c USING (contract_id) JOIN tariff t USING (tariff_id) WHERE b.status <> 'VOID' AND b.amt > 1.5 * (SELECT AVG(x.amt) FROM bill x JOIN contract y USING (contract_id) WHERE y.tariff_id = c.tariff_id AND x.status <> 'VOID') ORDER BY b.amt DESC
-- DU062 duckdb energy: For each visit, the last reading known on or before that day at that meter, if any.
SELECT v.visit_id, v.meter_id, v.visit_dt, r.read_dt, r.kwh_total FROM visit v ASOF LEFT JOIN reading r ON r.meter_id = v.meter_id AND r.read_dt <= v.visit_dt ORDER BY v.visit_id
-- DU063 duckdb energy: The largest jump between two successive readings at each gas meter.
WITH d AS (SELECT m.serial, r.read_dt, r.kwh_total - LAG(r.kwh_total) OVER (PARTITION BY r.meter_id ORDER BY r.read_dt) AS kwh FROM reading r JOIN meter m USING (meter_id) WHERE m.fuel = 'G')
SELECT serial, read_dt, kwh FROM d WHERE kwh IS NOT NULL QUALIFY RANK() OVER (PARTITION BY serial ORDER BY kwh DESC) = 1 ORDER BY kwh DESC, serial
-- DU064 duckdb energy: How many meters have at least one alert, none, or no configuration at all?
SELECT CASE WHEN config IS NULL THEN 'no configuration' WHEN json_array_length(config, '$.alerts') > 0 THEN 'with alerts' ELSE 'no alerts' END AS state, COUNT(*) AS meters FROM meter GROUP BY 1 ORDER BY 1
-- DU065 duckdb energy: Collection rate per tariff: of the non-void bill amount, what percentage has been received?
WITH r AS (SELECT bill_no, SUM(amt) AS got FROM receipt GROUP BY bill_no)
SELECT t.label, SUM(b.amt) AS billed, COALESCE(SUM(r.got), 0) AS received, ROUND(100 * COALESCE(SUM(r.got), 0) / SUM(b.amt), 1) AS pct FROM bill b JOIN contract c USING (contract_id) JOIN tariff t USING (tariff_id) LEFT JOIN r USING (bill_no) WHERE b.status <> 'VOID' GROUP BY t.tariff_id, t.label ORDER BY pct
-- DU066 duckdb energy: The second-highest bill amount on every contract that has at least two non-void bills of different amounts, with the bill it belongs to.
SELECT b.contract_id, b.bill_no, b.period_from, b.amt FROM bill b WHERE b.status <> 'VOID' QUALIFY DENSE_RANK() OVER (PARTITION BY b.contract_id ORDER BY b.amt DESC) = 2 ORDER BY b.contract_id
-- DU067 duckdb energy: First-quarter kWh billed per contract, 2025 against 2024 in percent, for contracts with a non-void bill in both. Biggest increase first, top ten.
SELECT b.contract_id, a.kwh AS kwh_2024, b.kwh AS kwh_2025, ROUND(100.0 * (b.kwh - a.kwh) / a.kwh, 1) AS change_pct FROM bill b JOIN bill a ON a.contract_id = b.contract_id AND a.period_from = DATE '2024-01-01' AND a.status <> 'VOID' WHERE b.period_from = DATE '2025-01-01' AND b.status <> 'VOID' ORDER BY change_pct DESC, b.contract_id LIMIT 10
-- DU068 duckdb energy: Receipts per month in 2024 and the running total.
WITH m AS (SELECT date_trunc('month', paid_dt)::DATE AS mon, SUM(amt) AS got FROM receipt WHERE year(paid_dt) = 2024 GROUP BY 1) SELECT mon, got, SUM(got) OVER (ORDER BY mon) AS running FROM m ORDER BY mon
-- DU069 duckdb energy: Outages and total outage hours per area, areas without any too. Ignore ones still going on.
SELECT a.area_name, COUNT(o.outage_id) AS outages, ROUND(COALESCE(SUM(date_diff('minute', o.began, o.ended)), 0) / 60.0, 1) AS hours FROM area a LEFT JOIN outage o ON o.area_id = a.area_id AND o.ended IS NOT NULL GROUP BY a.area_id, a.area_name ORDER BY hours DESC, a.area_name
-- DU070 duckdb energy: How many accounts are affected by outages in their area in the first quarter of 2025, per area? Count each account once.
SELECT ar.area_name, COUNT(DISTINCT c.acct_id) AS accounts FROM outage o JOIN area ar USING (area_id) JOIN premise p USING (area_id) JOIN meter m USING (premise_id) JOIN contract c USING (meter_id)
WHERE o.began >= DATE '2025-01-01' AND o.began < DATE '2025-04-01' AND c.start_dt <= CAST(o.began AS DATE) AND (c.end_dt IS NULL OR c.end_dt >= CAST(o.began AS DATE)) GROUP BY ar.area_id, ar.area_name ORDER BY accounts DESC, ar.area_name
-- DU071 duckdb energy: The satisfaction scores of billing complaints in the order they came in, unanswered ones left blank.
SELECT csat FROM complaint WHERE topic = 'billing' ORDER BY raised
-- DU072 duckdb energy: The three accounts with the most complaints, and everyone tied with the third.
SELECT a.acct_id, a.holder, COUNT(*) AS complaints FROM complaint k JOIN acct a USING (acct_id) GROUP BY a.acct_id, a.holder QUALIFY RANK() OVER (ORDER BY COUNT(*) DESC) <= 3 ORDER BY complaints DESC, a.acct_id
-- DU073 duckdb energy: Sum of unpaid bills, sum already received on them, and the number of accounts behind them, in one row.
SELECT 'DUE' AS status, SUM(b.amt) AS billed, (SELECT COALESCE(SUM(r.amt), 0) FROM receipt r JOIN bill x USING (bill_no) WHERE x.status = 'DUE') AS received, COUNT(DISTINCT c.acct_id) AS accounts FROM bill b JOIN contract c USING (contract_id) WHERE b.status = 'DUE'
-- DU074 duckdb energy: Accounts we cannot email, with a reason: never given or left blank.
SELECT acct_id, holder, CASE WHEN email IS NULL THEN 'never given' ELSE 'left blank' END AS reason FROM acct WHERE email IS NULL OR trim(email) = '' ORDER BY reason, acct_id
-- DU075 duckdb energy: Any complaints closed before they were raised?
SELECT case_no, raised, closed FROM complaint WHERE closed < raised
-- PG001 postgres wholesale: Our ten most expensive items by list price.
SELECT item_no, descr, list_prc FROM item ORDER BY list_prc DESC LIMIT 10
-- PG002 postgres wholesale: The last two orders of every active customer, whatever their status; customers without orders should still be listed.
SELECT c.cust_no, c.nm, o.ord_no, o.ord_dt, o.stat FROM cust c
LEFT JOIN LATERAL (SELECT ord_no, ord_dt, stat FROM ord_hd h WHERE h.cust_no = c.cust_no ORDER BY ord_dt DESC, ord_no DESC LIMIT 2) o ON true
WHERE c.is_active ORDER BY c.cust_no, o.ord_dt DESC
-- PG003 postgres wholesale: Each customer's first order, even if it was cancelled: number, date, channel.
SELECT DISTINCT ON (o.cust_no) o.cust_no, c.nm, o.ord_no, o.ord_dt, o.chan FROM ord_hd o JOIN cust c ON c.cust_no = o.cust_no ORDER BY o.cust_no, o.ord_dt, o.ord_no
-- PG004 postgres wholesale: Cancellation rate by channel.
SELECT chan, COUNT(*) AS orders, COUNT(*) FILTER (WHERE stat = 'X') AS cancelled, ROUND(100.0 * COUNT(*) FILTER (WHERE stat = 'X') / COUNT(*), 1) AS pct FROM ord_hd GROUP BY chan ORDER BY pct DESC
-- PG005 postgres wholesale: Net sales by segment and channel with subtotals per segment and a grand total, cancelled orders out.
SELECT CASE WHEN GROUPING(c.seg) = 1 THEN 'ALL' ELSE c.seg END AS seg, CASE WHEN GROUPING(o.chan) = 1 THEN 'ALL' ELSE o.chan END AS chan,
       ROUND(SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)), 2) AS net
FROM ord_hd o JOIN cust c ON c.cust_no = o.cust_no JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' GROUP BY ROLLUP (c.seg, o.chan) ORDER BY GROUPING(c.seg), c.seg, GROUPING(o.chan), o.chan
-- PG006 postgres wholesale: Monthly net sales for 2024 with a running total, including months with no sales; skip cancelled orders.
WITH s AS (SELECT date_trunc('month', o.ord_dt)::date AS m, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net
           FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' GROUP BY 1)
SELECT to_char(g.m, 'YYYY-MM') AS month, ROUND(COALESCE(s.net, 0), 2) AS net, ROUND(SUM(COALESCE(s.net, 0)) OVER (ORDER BY g.m), 2) AS running
FROM generate_series(DATE '2024-01-01', DATE '2024-12-01', INTERVAL '1 month') AS g(m) LEFT JOIN s ON s.m = g.m::date ORDER BY g.m
-- PG007 postgres wholesale: Year over year: net sales 2023 against 2024 by region and the growth in percent (no cancelled orders).
WITH s AS (SELECT c.region_cd, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) FILTER (WHERE EXTRACT(YEAR FROM o.ord_dt) = 2023) AS y23,
                  SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) FILTER (WHERE EXTRACT(YEAR FROM o.ord_dt) = 2024) AS y24
           FROM ord_hd o JOIN cust c ON c.cust_no = o.cust_no JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' GROUP BY c.region_cd)
SELECT r.region_nm, ROUND(s.y23, 2) AS net_2023, ROUND(s.y24, 2) AS net_2024, ROUND(100 * (s.y24 - s.y23) / NULLIF(s.y23, 0), 1) AS growth_pct FROM region r LEFT JOIN s ON s.region_cd = r.region_cd ORDER BY r.region_nm
-- PG008 postgres wholesale: Median and 90th percentile of days from order to shipping.
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY ship_dt - ord_dt) AS median_days, percentile_cont(0.9) WITHIN GROUP (ORDER BY ship_dt - ord_dt) AS p90_days FROM ord_hd WHERE ship_dt IS NOT NULL
-- PG009 postgres wholesale: For how many items is each supplier our preferred one, and what percentage of all items with a preferred supplier is that?
SELECT s.supp_nm, COUNT(*) AS items, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM item_supp WHERE pref), 1) AS pct
FROM item_supp x JOIN supp s ON s.supp_id = x.supp_id WHERE x.pref GROUP BY s.supp_id, s.supp_nm ORDER BY items DESC, s.supp_nm
-- PG010 postgres wholesale: Delivered orders per manager, counting their own and those of everyone below them.
WITH RECURSIVE t AS (SELECT rep_id AS top, rep_id FROM rep UNION ALL SELECT t.top, r.rep_id FROM t JOIN rep r ON r.mgr_id = t.rep_id)
SELECT r.first_nm, r.last_nm, COUNT(o.ord_no) AS delivered_orders FROM rep r JOIN t ON t.top = r.rep_id LEFT JOIN ord_hd o ON o.rep_id = t.rep_id AND o.stat = 'D'
WHERE EXISTS (SELECT 1 FROM rep s WHERE s.mgr_id = r.rep_id) GROUP BY r.rep_id, r.first_nm, r.last_nm ORDER BY delivered_orders DESC, r.rep_id
-- PG011 postgres wholesale: Return rate per item: returned pieces as a percentage of delivered pieces. Top five.
WITH d AS (SELECT l.item_no, SUM(l.qty) AS delivered FROM ord_ln l JOIN ord_hd o ON o.ord_no = l.ord_no WHERE o.stat = 'D' GROUP BY l.item_no),
     r AS (SELECT l.item_no, SUM(r.qty) AS returned FROM rtn r JOIN ord_ln l ON l.ord_no = r.ord_no AND l.ln_no = r.ln_no GROUP BY l.item_no)
SELECT i.descr, d.delivered, COALESCE(r.returned, 0) AS returned, ROUND(100.0 * COALESCE(r.returned, 0) / d.delivered, 2) AS pct
FROM d JOIN item i ON i.item_no = d.item_no LEFT JOIN r ON r.item_no = d.item_no ORDER BY pct DESC, i.descr LIMIT 5
-- PG012 postgres wholesale: Which active customers have not ordered anything since the start of 2025? Cancelled orders don't count as ordering.
SELECT c.cust_no, c.nm FROM cust c WHERE c.is_active AND NOT EXISTS (SELECT 1 FROM ord_hd o WHERE o.cust_no = c.cust_no AND o.ord_dt >= DATE '2025-01-01' AND o.stat <> 'X') ORDER BY c.cust_no
-- PG013 postgres wholesale: Share of total sold quantity by top-level category, without cancelled orders.
WITH RECURSIVE t AS (SELECT cat_id, cat_id AS root FROM cat WHERE parent_cat_id IS NULL UNION ALL SELECT c.cat_id, t.root FROM cat c JOIN t ON c.parent_cat_id = t.cat_id)
SELECT k.cat_nm, SUM(l.qty) AS qty, ROUND(100.0 * SUM(l.qty) / SUM(SUM(l.qty)) OVER (), 1) AS pct
FROM ord_ln l JOIN ord_hd o ON o.ord_no = l.ord_no JOIN item i ON i.item_no = l.item_no JOIN t ON t.cat_id = i.cat_id JOIN cat k ON k.cat_id = t.root WHERE o.stat <> 'X' GROUP BY k.cat_id, k.cat_nm ORDER BY pct DESC
-- PG014 postgres wholesale: Top three reps by number of orders that went through, ties included.
SELECT r.rep_id, r.first_nm, r.last_nm, COUNT(*) AS orders FROM rep r JOIN ord_hd o ON o.rep_id = r.rep_id WHERE o.stat <> 'X' GROUP BY r.rep_id, r.first_nm, r.last_nm ORDER BY COUNT(*) DESC FETCH FIRST 3 ROWS WITH TIES
-- PG015 postgres wholesale: Have we been overpaid by more than five cents on any order?
SELECT p.ord_no, SUM(p.amt) AS paid, v.net FROM pay p JOIN (SELECT ord_no, ROUND(SUM(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100)), 2) AS net FROM ord_ln GROUP BY ord_no) v ON v.ord_no = p.ord_no
GROUP BY p.ord_no, v.net HAVING SUM(p.amt) > v.net + 0.05
-- PG016 postgres clinic: The latest two completed visits of every active physician, with the patient's name; list physicians without any too.
SELECT h.full_name, v.starts_at, v.last_name FROM physician h
LEFT JOIN LATERAL (SELECT a.starts_at, p.last_name FROM appt a JOIN patient p ON p.pat_id = a.pat_id WHERE a.phys_id = h.phys_id AND a.status = 'completed' ORDER BY a.starts_at DESC, a.appt_id DESC LIMIT 2) v ON true
WHERE h.active ORDER BY h.full_name, v.starts_at DESC
-- PG017 postgres clinic: Which patients are allergic to penicillin?
SELECT pat_id, last_name, first_name FROM patient WHERE 'penicillin' = ANY (allergies) ORDER BY pat_id
-- PG018 postgres clinic: Allergy counts by sex.
SELECT a AS allergy, COUNT(*) FILTER (WHERE sex = 'F') AS women, COUNT(*) FILTER (WHERE sex = 'M') AS men FROM patient CROSS JOIN LATERAL unnest(allergies) AS a GROUP BY a ORDER BY a
-- PG019 postgres clinic: Was anyone with a penicillin allergy prescribed Amoxicillin? Patient, date and doctor.
SELECT p.last_name, p.first_name, a.starts_at::date AS on_date, h.full_name FROM rx JOIN drug d ON d.drug_id = rx.drug_id JOIN appt a ON a.appt_id = rx.appt_id JOIN patient p ON p.pat_id = a.pat_id JOIN physician h ON h.phys_id = a.phys_id
WHERE d.drug_name = 'Amoxicillin' AND 'penicillin' = ANY (p.allergies) ORDER BY on_date
-- PG020 postgres clinic: The most recent completed visit of each patient and who saw them.
SELECT DISTINCT ON (a.pat_id) a.pat_id, p.last_name, a.starts_at, h.full_name FROM appt a JOIN patient p ON p.pat_id = a.pat_id JOIN physician h ON h.phys_id = a.phys_id WHERE a.status = 'completed' ORDER BY a.pat_id, a.starts_at DESC, a.appt_id DESC
-- PG021 postgres clinic: Lab results outside the normal range in 2025: patient, test, value, and whether it's high or low.
SELECT p.last_name, l.test, l.taken_on, l.value, CASE WHEN l.value > l.ref_high THEN 'high' ELSE 'low' END AS flag
FROM lab l JOIN patient p ON p.pat_id = l.pat_id WHERE l.taken_on BETWEEN DATE '2025-01-01' AND DATE '2025-12-31' AND (l.value > l.ref_high OR l.value < l.ref_low) ORDER BY l.taken_on, l.lab_id
-- PG022 postgres clinic: Completed visits by department and physician with department totals and an overall total.
SELECT COALESCE(d.name, 'All departments') AS department, COALESCE(h.full_name, 'All physicians') AS physician, COUNT(*) AS visits
FROM appt a JOIN physician h ON h.phys_id = a.phys_id JOIN dept d ON d.dept_id = h.dept_id WHERE a.status = 'completed' GROUP BY ROLLUP (d.name, h.full_name) ORDER BY GROUPING(d.name), d.name, GROUPING(h.full_name), h.full_name
-- PG023 postgres clinic: How many patients were in hospital at noon on each of the first ten days of July 2025?
SELECT g.d::date AS day, COUNT(DISTINCT a.pat_id) AS in_house FROM generate_series(TIMESTAMP '2025-07-01', TIMESTAMP '2025-07-10', INTERVAL '1 day') AS g(d)
LEFT JOIN admission a ON a.admitted_at <= g.d + INTERVAL '12 hours' AND (a.discharged_at IS NULL OR a.discharged_at > g.d + INTERVAL '12 hours') GROUP BY g.d ORDER BY g.d
-- PG024 postgres clinic: Median length of stay in days by ward.
SELECT w.ward_name, COUNT(*) AS stays, ROUND((percentile_cont(0.5) WITHIN GROUP (ORDER BY EXTRACT(EPOCH FROM a.discharged_at - a.admitted_at) / 86400))::numeric, 1) AS median_days
FROM admission a JOIN ward w ON w.ward_id = a.ward_id WHERE a.discharged_at IS NOT NULL GROUP BY w.ward_id, w.ward_name ORDER BY w.ward_name
-- PG025 postgres clinic: Per insurer: what they were billed as their share and what they have paid us.
SELECT i.name, SUM(b.insurer_share) AS their_share, COALESCE(SUM(x.paid), 0) AS paid
FROM insurer i JOIN patient p ON p.insurer_id = i.insurer_id JOIN appt a ON a.pat_id = p.pat_id JOIN bill b ON b.appt_id = a.appt_id
LEFT JOIN LATERAL (SELECT SUM(amount) AS paid FROM bill_pay y WHERE y.bill_id = b.bill_id AND y.payer = 'insurer') x ON true GROUP BY i.insurer_id, i.name ORDER BY i.name
-- PG026 postgres clinic: Which insurers cover none of our patients?
SELECT i.name FROM insurer i LEFT JOIN patient p ON p.insurer_id = i.insurer_id WHERE p.pat_id IS NULL
-- PG027 postgres clinic: Rank the drugs by how often they were prescribed, equal counts sharing a rank, never-prescribed ones last.
SELECT d.drug_name, COUNT(r.rx_id) AS prescriptions, RANK() OVER (ORDER BY COUNT(r.rx_id) DESC) AS pos FROM drug d LEFT JOIN rx r ON r.drug_id = d.drug_id GROUP BY d.drug_id, d.drug_name ORDER BY pos, d.drug_name
-- PG028 postgres clinic: For each patient with completed visits, the different doctors they saw in one cell.
SELECT p.pat_id, p.last_name, string_agg(DISTINCT h.full_name, ', ' ORDER BY h.full_name) AS doctors FROM appt a JOIN patient p ON p.pat_id = a.pat_id JOIN physician h ON h.phys_id = a.phys_id WHERE a.status = 'completed' GROUP BY p.pat_id, p.last_name ORDER BY p.pat_id
-- PG029 postgres clinic: Of the patients whose first completed visit was in the first half of 2024, how many came back within a year of that visit?
WITH f AS (SELECT pat_id, MIN(starts_at) AS first_at FROM appt WHERE status = 'completed' GROUP BY pat_id)
SELECT COUNT(*) AS new_patients, COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM appt a WHERE a.pat_id = f.pat_id AND a.status = 'completed' AND a.starts_at > f.first_at AND a.starts_at < f.first_at + INTERVAL '1 year')) AS came_back
FROM f WHERE first_at >= DATE '2024-01-01' AND first_at < DATE '2024-07-01'
-- PG030 postgres clinic: Read out the fees of the last fifteen completed visits, newest first, just the amounts.
SELECT fee FROM appt WHERE status = 'completed' ORDER BY starts_at DESC LIMIT 15
-- PG031 postgres saas: Key accounts: organisations tagged VIP or with a live Business or Enterprise subscription, each listed once.
SELECT org_id, org_name FROM org WHERE 'vip' = ANY (tags)
UNION SELECT o.org_id, o.org_name FROM org o JOIN sub s ON s.org_id = o.org_id WHERE s.end_on IS NULL AND s.plan_code IN ('BIZ', 'ENT') ORDER BY org_name
-- PG032 postgres saas: How many organisations carry each tag, and how many carry none at all?
SELECT COALESCE(t.tag, '(no tag)') AS tag, COUNT(*) AS orgs FROM org o LEFT JOIN LATERAL unnest(o.tags) AS t(tag) ON true GROUP BY t.tag ORDER BY orgs DESC, tag
-- PG033 postgres saas: Events by device in the second half of 2025, with exports counted separately. Leave out events that carry no details.
SELECT props->>'device' AS device, COUNT(*) AS events, COUNT(*) FILTER (WHERE evt_name = 'export') AS exports FROM evt WHERE props IS NOT NULL AND ts_utc >= DATE '2025-07-01' AND ts_utc < DATE '2026-01-01' GROUP BY 1 ORDER BY events DESC
-- PG034 postgres saas: Organisations from the same country and industry: list each pair once. Unknown countries don't match anything.
SELECT a.org_name AS org_1, b.org_name AS org_2, a.country, a.industry FROM org a JOIN org b ON b.country = a.country AND b.industry = a.industry AND b.org_id > a.org_id ORDER BY a.org_name, b.org_name
-- PG035 postgres saas: How many files were uploaded per organisation, and how many megabytes?
SELECT o.org_name, SUM(jsonb_array_length(e.props->'files')) AS files, SUM((e.props->>'size_mb')::numeric) AS mb
FROM evt e JOIN member m ON m.member_id = e.member_id JOIN org o ON o.org_id = m.org_id WHERE e.evt_name = 'upload' GROUP BY o.org_id, o.org_name ORDER BY mb DESC NULLS LAST, o.org_name
-- PG036 postgres saas: Live subscriptions at the end of each month of 2025.
SELECT (g.m + INTERVAL '1 month - 1 day')::date AS month_end, COUNT(s.sub_id) AS live FROM generate_series(TIMESTAMP '2025-01-01', TIMESTAMP '2025-12-01', INTERVAL '1 month') g(m)
LEFT JOIN sub s ON s.start_on <= (g.m + INTERVAL '1 month - 1 day')::date AND (s.end_on IS NULL OR s.end_on >= (g.m + INTERVAL '1 month - 1 day')::date) GROUP BY g.m ORDER BY g.m
-- PG037 postgres saas: Signup cohorts by quarter of creation: how many organisations signed up and how many of them have a live paid subscription now?
SELECT date_trunc('quarter', o.created_on)::date AS cohort, COUNT(*) AS signed_up,
       COUNT(*) FILTER (WHERE EXISTS (SELECT 1 FROM sub s JOIN plan p ON p.plan_code = s.plan_code WHERE s.org_id = o.org_id AND s.end_on IS NULL AND p.monthly_fee > 0)) AS paying_now
FROM org o GROUP BY 1 ORDER BY 1
-- PG038 postgres saas: Organisations that never had any subscription.
SELECT o.org_id, o.org_name FROM org o WHERE NOT EXISTS (SELECT 1 FROM sub s WHERE s.org_id = o.org_id)
-- PG039 postgres saas: For each ticket that got an answer from our staff (messages without a member as author): hours until the first staff reply, slowest ten.
SELECT t.ticket_id, t.opened_at, f.first_reply, ROUND(EXTRACT(EPOCH FROM f.first_reply - t.opened_at) / 3600, 1) AS hours
FROM ticket t CROSS JOIN LATERAL (SELECT MIN(sent_at) AS first_reply FROM ticket_msg x WHERE x.ticket_id = t.ticket_id AND x.author_id IS NULL) f WHERE f.first_reply IS NOT NULL ORDER BY hours DESC, t.ticket_id LIMIT 10
-- PG040 postgres saas: Totals per currency of everything invoiced, of what is paid and of what was voided.
WITH t AS (SELECT i.inv_id, i.currency, i.state, SUM(l.amount) AS total FROM inv i JOIN inv_line l ON l.inv_id = i.inv_id GROUP BY i.inv_id, i.currency, i.state)
SELECT currency, SUM(total) AS invoiced, SUM(total) FILTER (WHERE state = 'paid') AS paid, SUM(total) FILTER (WHERE state = 'void') AS void FROM t GROUP BY currency ORDER BY currency
-- PG041 postgres saas: Logins per month in the second half of 2025 and the change against the month before in percent.
WITH m AS (SELECT date_trunc('month', ts_utc)::date AS mon, COUNT(*) AS logins FROM evt WHERE evt_name = 'login' GROUP BY 1)
SELECT mon, logins, LAG(logins) OVER (ORDER BY mon) AS month_before, ROUND(100.0 * (logins - LAG(logins) OVER (ORDER BY mon)) / LAG(logins) OVER (ORDER BY mon), 1) AS change_pct FROM m ORDER BY mon
-- PG042 postgres saas: Average NPS score of each organisation that answered, beside the overall average and the difference between the two.
SELECT o.org_name, COUNT(*) AS answers, ROUND(AVG(n.score), 2) AS avg_score, (SELECT ROUND(AVG(score), 2) FROM nps) AS overall, ROUND(AVG(n.score) - (SELECT AVG(score) FROM nps), 2) AS difference
FROM nps n JOIN member m ON m.member_id = n.member_id JOIN org o ON o.org_id = m.org_id GROUP BY o.org_id, o.org_name ORDER BY difference DESC, o.org_name
-- PG043 postgres saas: Using only each member's latest answer, how many promoters, passives and detractors do we have?
WITH l AS (SELECT DISTINCT ON (member_id) member_id, score FROM nps ORDER BY member_id, answered_on DESC, nps_id DESC)
SELECT COUNT(*) FILTER (WHERE score >= 9) AS promoters, COUNT(*) FILTER (WHERE score IN (7, 8)) AS passives, COUNT(*) FILTER (WHERE score <= 6) AS detractors FROM l
-- PG044 postgres saas: Who was active in December 2025 in any way: members with an event or a ticket message, each once?
SELECT m.email FROM member m JOIN evt e ON e.member_id = m.member_id WHERE e.ts_utc >= DATE '2025-12-01' AND e.ts_utc < DATE '2026-01-01'
UNION SELECT m.email FROM member m JOIN ticket_msg t ON t.author_id = m.member_id WHERE t.sent_at >= DATE '2025-12-01' AND t.sent_at < DATE '2026-01-01' ORDER BY 1
-- PG045 postgres saas: Ticket counts by priority, and separately by whether they're closed, and overall, in one table.
SELECT priority, CASE WHEN GROUPING(closed_at IS NULL) = 1 THEN NULL WHEN closed_at IS NULL THEN 'open' ELSE 'closed' END AS state, COUNT(*) AS tickets
FROM ticket GROUP BY GROUPING SETS ((priority), (closed_at IS NULL), ()) ORDER BY GROUPING(priority), GROUPING(closed_at IS NULL), priority, state
-- PG046 postgres hr: Staff turnover in 2024: headcount at the start and end of the year, leavers in between, and leavers as a percentage of the average of the two headcounts.
WITH s AS (SELECT COUNT(*) AS n FROM emp WHERE hire_dt < DATE '2024-01-01' AND (term_dt IS NULL OR term_dt >= DATE '2024-01-01')),
     e AS (SELECT COUNT(*) AS n FROM emp WHERE hire_dt <= DATE '2024-12-31' AND (term_dt IS NULL OR term_dt > DATE '2024-12-31')),
     l AS (SELECT COUNT(*) AS n FROM emp WHERE term_dt BETWEEN DATE '2024-01-01' AND DATE '2024-12-31')
SELECT s.n AS start_of_year, e.n AS end_of_year, l.n AS leavers, ROUND(100.0 * l.n / ((s.n + e.n) / 2.0), 1) AS turnover_pct FROM s CROSS JOIN e CROSS JOIN l
-- PG047 postgres hr: Show the org chart as a path for every unit, like Group > Technology > Data.
WITH RECURSIVE t AS (SELECT unit_id, unit_name AS path FROM org_unit WHERE parent_unit_id IS NULL UNION ALL SELECT u.unit_id, t.path || ' > ' || u.unit_name FROM org_unit u JOIN t ON u.parent_unit_id = t.unit_id)
SELECT unit_id, path FROM t ORDER BY path
-- PG048 postgres hr: Which directors have how many current people below them in total, at any depth?
WITH RECURSIVE t AS (SELECT emp_id AS boss, emp_id FROM emp WHERE job_cd = 'DIR' UNION ALL SELECT t.boss, e.emp_id FROM t JOIN emp e ON e.mgr_id = t.emp_id)
SELECT b.given, b.family, COUNT(*) FILTER (WHERE t.emp_id <> t.boss AND e.term_dt IS NULL) AS people FROM t JOIN emp b ON b.emp_id = t.boss JOIN emp e ON e.emp_id = t.emp_id GROUP BY b.emp_id, b.given, b.family ORDER BY people DESC, b.family
-- PG049 postgres hr: Median current salary by job, for people still here.
WITH cur AS (SELECT DISTINCT ON (emp_id) emp_id, annual FROM sal_hist ORDER BY emp_id, eff_dt DESC)
SELECT j.job_title, COUNT(*) AS people, percentile_cont(0.5) WITHIN GROUP (ORDER BY c.annual) AS median_salary FROM emp e JOIN cur c ON c.emp_id = e.emp_id JOIN job j ON j.job_cd = e.job_cd WHERE e.term_dt IS NULL GROUP BY j.job_cd, j.job_title ORDER BY median_salary DESC
-- PG050 postgres hr: Current salary of each engineer compared with the average of all current engineers, in percent.
WITH cur AS (SELECT DISTINCT ON (emp_id) emp_id, annual FROM sal_hist ORDER BY emp_id, eff_dt DESC)
SELECT e.given, e.family, c.annual, ROUND(AVG(c.annual) OVER (), 0) AS avg_engineer, ROUND(100 * c.annual / AVG(c.annual) OVER (), 1) AS pct FROM emp e JOIN cur c ON c.emp_id = e.emp_id WHERE e.job_cd = 'ENG' AND e.term_dt IS NULL ORDER BY c.annual DESC, e.emp_id
-- PG051 postgres hr: Which other people have every skill that Elif Demir has?
SELECT e.emp_id, e.given, e.family FROM emp e WHERE NOT (e.given = 'Elif' AND e.family = 'Demir')
  AND NOT EXISTS (SELECT 1 FROM skill s JOIN emp x ON x.emp_id = s.emp_id WHERE x.given = 'Elif' AND x.family = 'Demir' AND NOT EXISTS (SELECT 1 FROM skill t WHERE t.emp_id = e.emp_id AND t.skill = s.skill)) ORDER BY e.emp_id
-- PG052 postgres hr: One line: current headcount, full-time equivalents, open vacancies, and pay slips in the last payroll run.
SELECT (SELECT COUNT(*) FROM emp WHERE term_dt IS NULL) AS headcount, (SELECT SUM(fte) FROM emp WHERE term_dt IS NULL) AS fte, (SELECT COUNT(*) FROM vacancy WHERE filled_dt IS NULL) AS open_vacancies,
       (SELECT COUNT(*) FROM payslip WHERE run_id = (SELECT run_id FROM payrun ORDER BY period_end DESC LIMIT 1)) AS slips_last_run
-- PG053 postgres hr: Overtime paid per payroll month in 2025, with the cumulative amount.
SELECT r.period_end, COALESCE(SUM(p.overtime), 0) AS overtime, SUM(COALESCE(SUM(p.overtime), 0)) OVER (ORDER BY r.period_end) AS cumulative FROM payrun r LEFT JOIN payslip p ON p.run_id = r.run_id GROUP BY r.run_id, r.period_end ORDER BY r.period_end
-- PG054 postgres hr: Where did absences of two people reporting to the same manager overlap, rejected requests aside? List each pair of absences once.
SELECT e1.given || ' ' || e1.family AS person_1, e2.given || ' ' || e2.family AS person_2, GREATEST(a.from_dt, b.from_dt) AS overlap_from, LEAST(a.to_dt, b.to_dt) AS overlap_to
FROM absence a JOIN absence b ON a.emp_id < b.emp_id AND a.from_dt <= b.to_dt AND b.from_dt <= a.to_dt JOIN emp e1 ON e1.emp_id = a.emp_id JOIN emp e2 ON e2.emp_id = b.emp_id AND e2.mgr_id = e1.mgr_id
WHERE a.approved IS NOT FALSE AND b.approved IS NOT FALSE ORDER BY overlap_from, 1, 2
-- PG055 postgres hr: How many different people were absent on each day from 1 to 14 June 2024, rejected requests aside? Days with nobody as 0.
SELECT g.d::date AS day, COUNT(DISTINCT a.emp_id) AS absent FROM generate_series(TIMESTAMP '2024-06-01', TIMESTAMP '2024-06-14', INTERVAL '1 day') AS g(d)
LEFT JOIN absence a ON g.d::date BETWEEN a.from_dt AND a.to_dt AND a.approved IS NOT FALSE GROUP BY g.d ORDER BY g.d
-- PG056 postgres hr: Completion rate of mandatory courses: of those enrolled, what percentage passed, per course?
SELECT c.title, COUNT(n.emp_id) AS enrolled, COUNT(n.passed_dt) AS passed, ROUND(100.0 * COUNT(n.passed_dt) / NULLIF(COUNT(n.emp_id), 0), 1) AS pct FROM course c LEFT JOIN enrol n ON n.course_id = c.course_id WHERE c.mandatory GROUP BY c.course_id, c.title ORDER BY c.title
-- PG057 postgres hr: Emails of current people in Sales units (any of them), only those who have one.
SELECT e.given, e.family, e.email FROM emp e JOIN org_unit u ON u.unit_id = e.unit_id WHERE u.unit_name LIKE 'Sales%' AND e.term_dt IS NULL AND e.email <> '' ORDER BY e.family, e.given
-- PG058 postgres hr: Is anybody's latest salary below the minimum of their pay band?
SELECT e.emp_id, e.given, e.family, s.annual, j.min_sal FROM emp e JOIN job j ON j.job_cd = e.job_cd JOIN LATERAL (SELECT annual FROM sal_hist x WHERE x.emp_id = e.emp_id ORDER BY eff_dt DESC LIMIT 1) s ON true WHERE e.term_dt IS NULL AND s.annual < j.min_sal
-- PG059 postgres hr: Whose review rating improved from 2023 to 2024, and by how much?
SELECT e.given, e.family, a.rating AS r2023, b.rating AS r2024, b.rating - a.rating AS change FROM review a JOIN review b ON b.emp_id = a.emp_id AND b.yr = 2024 JOIN emp e ON e.emp_id = a.emp_id WHERE a.yr = 2023 AND b.rating > a.rating ORDER BY change DESC, e.family, e.given
-- PG060 postgres hr: Each person's skills as a list, best first, for people in the Platform unit who have any.
SELECT e.given, e.family, array_agg(s.skill ORDER BY s.lvl DESC, s.skill) AS skills FROM emp e JOIN skill s ON s.emp_id = e.emp_id JOIN org_unit u ON u.unit_id = e.unit_id WHERE u.unit_name = 'Platform' GROUP BY e.emp_id, e.given, e.family ORDER BY e.family
-- PG061 postgres energy: The causes of the Harbour outages in the order they happened, one line per outage, repeats and blanks kept.
SELECT o.cause FROM outage o JOIN area a ON a.area_id = o.area_id WHERE a.area_name = 'Harbour' ORDER BY o.began
-- PG062 postgres energy: Electricity consumption measured in total per area, as the sum of differences between successive readings.
WITH d AS (SELECT r.meter_id, r.kwh_total - LAG(r.kwh_total) OVER (PARTITION BY r.meter_id ORDER BY r.read_dt) AS kwh FROM reading r)
SELECT a.area_name, SUM(d.kwh) AS kwh FROM d JOIN meter m ON m.meter_id = d.meter_id JOIN premise p ON p.premise_id = m.premise_id JOIN area a ON a.area_id = p.area_id WHERE m.fuel = 'E' GROUP BY a.area_id, a.area_name ORDER BY kwh DESC
-- PG063 postgres energy: Latest reading of every meter; meters never read should appear too.
SELECT DISTINCT ON (m.meter_id) m.serial, r.read_dt, r.kwh_total, r.src FROM meter m LEFT JOIN reading r ON r.meter_id = m.meter_id ORDER BY m.meter_id, r.read_dt DESC NULLS LAST
-- PG064 postgres energy: What would each 2025 bill's energy part be at the tariff's day price valid on the first day of the period? First ten non-void bills.
SELECT b.bill_no, t.label, b.kwh, r.price_kwh, ROUND(b.kwh * r.price_kwh, 2) AS energy_part FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN tariff t ON t.tariff_id = c.tariff_id
JOIN tariff_rate r ON r.tariff_id = t.tariff_id AND r.band = 'DAY' AND b.period_from BETWEEN r.valid_from AND COALESCE(r.valid_to, DATE '9999-12-31') WHERE b.status <> 'VOID' AND b.period_from >= DATE '2025-01-01' ORDER BY b.bill_no LIMIT 10
-- PG065 postgres energy: Number of outages that began in each month of 2024, zeros included.
SELECT to_char(g.m, 'YYYY-MM') AS month, COUNT(o.outage_id) AS outages FROM generate_series(TIMESTAMP '2024-01-01', TIMESTAMP '2024-12-01', INTERVAL '1 month') g(m) LEFT JOIN outage o ON date_trunc('month', o.began) = g.m GROUP BY g.m ORDER BY g.m
-- PG066 postgres energy: Outage minutes by cause, unknown causes as 'unknown', finished outages only.
SELECT COALESCE(cause, 'unknown') AS cause, COUNT(*) AS outages, SUM(EXTRACT(EPOCH FROM ended - began) / 60)::int AS minutes FROM outage WHERE ended IS NOT NULL GROUP BY 1 ORDER BY minutes DESC
-- PG067 postgres energy: For every meter with an actual reading, the last actual reading and, if there is one, the reading of any kind just before it.
SELECT m.serial, x.read_dt, x.kwh_total, y.read_dt AS before_dt, y.kwh_total AS before_kwh, y.src AS before_src FROM meter m
JOIN LATERAL (SELECT read_dt, kwh_total FROM reading r WHERE r.meter_id = m.meter_id AND r.src = 'A' ORDER BY read_dt DESC LIMIT 1) x ON true
LEFT JOIN LATERAL (SELECT read_dt, kwh_total, src FROM reading r WHERE r.meter_id = m.meter_id AND r.read_dt < x.read_dt ORDER BY read_dt DESC LIMIT 1) y ON true ORDER BY m.meter_id
-- PG068 postgres energy: Count of meter alerts by type.
SELECT x.alert, COUNT(*) AS meters FROM meter m CROSS JOIN LATERAL jsonb_array_elements_text(m.config->'alerts') AS x(alert) GROUP BY x.alert ORDER BY meters DESC
-- PG069 postgres energy: Meter readings by fuel and by source (A actual, E estimated, C customer), with totals per fuel, per source and overall, and each figure's share of all readings.
SELECT COALESCE(m.fuel, 'all') AS fuel, COALESCE(r.src, 'all') AS source, COUNT(*) AS readings, ROUND(100.0 * COUNT(*) / (SELECT COUNT(*) FROM reading), 1) AS pct FROM reading r JOIN meter m ON m.meter_id = r.meter_id GROUP BY CUBE (m.fuel, r.src) ORDER BY GROUPING(m.fuel), m.fuel, GROUPING(r.src), r.src
-- PG070 postgres energy: Household accounts that complained about billing but have no unpaid bill.
SELECT a.acct_id, a.holder FROM acct a WHERE a.kind = 'H' AND EXISTS (SELECT 1 FROM complaint k WHERE k.acct_id = a.acct_id AND k.topic = 'billing')
  AND NOT EXISTS (SELECT 1 FROM bill b JOIN contract c ON c.contract_id = b.contract_id WHERE c.acct_id = a.acct_id AND b.status = 'DUE') ORDER BY a.acct_id
-- PG071 postgres energy: One timeline of everything that happened at meter 1: readings, visits and contract starts.
SELECT read_dt AS on_date, 'reading' AS what, kwh_total::text AS detail FROM reading WHERE meter_id = 1 UNION ALL SELECT visit_dt, 'visit', outcome FROM visit WHERE meter_id = 1
UNION ALL SELECT c.start_dt, 'contract', t.label FROM contract c JOIN tariff t ON t.tariff_id = c.tariff_id WHERE c.meter_id = 1 ORDER BY on_date, what
-- PG072 postgres energy: Rank the crews by number of visits and show how often each found nobody at home ('no access').
SELECT crew, COUNT(*) AS visits, COUNT(*) FILTER (WHERE outcome = 'no access') AS no_access, DENSE_RANK() OVER (ORDER BY COUNT(*) DESC) AS pos FROM visit GROUP BY crew ORDER BY pos, crew
-- PG073 postgres energy: The median time in days to close a complaint, by topic, closed ones only.
SELECT topic, COUNT(*) AS closed, percentile_cont(0.5) WITHIN GROUP (ORDER BY closed - raised) AS median_days FROM complaint WHERE closed IS NOT NULL GROUP BY topic ORDER BY median_days DESC, topic
-- PG074 postgres energy: Are there paid bills without any receipt?
SELECT b.bill_no FROM bill b WHERE b.status = 'PAID' AND NOT EXISTS (SELECT 1 FROM receipt r WHERE r.bill_no = b.bill_no)
-- PG075 postgres energy: Complaints per area in 2024 in relation to the number of accounts there: accounts with any contract in the area, complaints raised by them, and complaints per 10 accounts.
WITH aa AS (SELECT DISTINCT p.area_id, c.acct_id FROM contract c JOIN meter m ON m.meter_id = c.meter_id JOIN premise p ON p.premise_id = m.premise_id),
     k AS (SELECT acct_id, COUNT(*) AS n FROM complaint WHERE raised BETWEEN DATE '2024-01-01' AND DATE '2024-12-31' GROUP BY acct_id)
SELECT a.area_name, COUNT(aa.acct_id) AS accounts, COALESCE(SUM(k.n), 0) AS complaints, ROUND(10.0 * COALESCE(SUM(k.n), 0) / NULLIF(COUNT(aa.acct_id), 0), 1) AS per_10 FROM area a LEFT JOIN aa ON aa.area_id = a.area_id LEFT JOIN k ON k.acct_id = aa.acct_id GROUP BY a.area_id, a.area_name ORDER BY a.area_name
-- MY001 mysql wholesale: Each customer's share of its region's net sales in 2024, without cancelled orders; just customers with 20 percent or more.
WITH s AS (SELECT o.cust_no, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' AND YEAR(o.ord_dt) = 2024 GROUP BY o.cust_no),
     p AS (SELECT r.region_nm, c.nm, s.net, 100 * s.net / SUM(s.net) OVER (PARTITION BY r.region_cd) AS pct FROM s JOIN cust c ON c.cust_no = s.cust_no JOIN region r ON r.region_cd = c.region_cd)
SELECT region_nm, nm, ROUND(net, 2) AS net, ROUND(pct, 1) AS pct FROM p WHERE pct >= 20 ORDER BY region_nm, pct DESC
-- MY002 mysql wholesale: How many orders are on file in total, cancelled ones included, and what are the first and last order dates?
SELECT COUNT(*) AS orders, MIN(ord_dt) AS first_order, MAX(ord_dt) AS last_order FROM ord_hd
-- MY003 mysql wholesale: Which suppliers do not supply any item?
SELECT s.supp_id, s.supp_nm FROM supp s WHERE NOT EXISTS (SELECT 1 FROM item_supp x WHERE x.supp_id = s.supp_id)
-- MY004 mysql wholesale: Items that can be bought from more than one supplier, with the shortest lead time.
SELECT i.item_no, i.descr, COUNT(DISTINCT x.supp_id) AS suppliers, MIN(x.lead_days) AS shortest_lead FROM item i JOIN item_supp x ON x.item_no = i.item_no GROUP BY i.item_no, i.descr HAVING COUNT(DISTINCT x.supp_id) > 1 ORDER BY i.item_no
-- MY005 mysql wholesale: All orders placed, cancelled or not, by year and channel with yearly totals and a grand total.
SELECT COALESCE(yr, 'all years') AS yr, COALESCE(chan, 'all channels') AS chan, orders FROM (SELECT CAST(YEAR(ord_dt) AS CHAR) AS yr, chan, COUNT(*) AS orders FROM ord_hd GROUP BY CAST(YEAR(ord_dt) AS CHAR), chan WITH ROLLUP) t ORDER BY t.yr IS NULL, t.yr, t.chan IS NULL, t.chan
-- MY006 mysql wholesale: The three biggest net orders of every year, excluding cancelled ones.
WITH v AS (SELECT o.ord_no, YEAR(o.ord_dt) AS yr, o.cust_no, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' GROUP BY o.ord_no, YEAR(o.ord_dt), o.cust_no)
SELECT yr, ord_no, nm, ROUND(net, 2) AS net FROM (SELECT v.*, c.nm, RANK() OVER (PARTITION BY yr ORDER BY net DESC) AS pos FROM v JOIN cust c ON c.cust_no = v.cust_no) t WHERE pos <= 3 ORDER BY yr, net DESC
-- MY007 mysql wholesale: For each rep: quota, number of non-cancelled orders in 2024 and their net sales.
SELECT r.rep_id, r.first_nm, r.last_nm, r.quota, (SELECT COUNT(*) FROM ord_hd o WHERE o.rep_id = r.rep_id AND o.stat <> 'X' AND YEAR(o.ord_dt) = 2024) AS orders_2024,
       (SELECT ROUND(COALESCE(SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)), 0), 2) FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.rep_id = r.rep_id AND o.stat <> 'X' AND YEAR(o.ord_dt) = 2024) AS net_2024
FROM rep r ORDER BY net_2024 DESC, r.rep_id
-- MY008 mysql wholesale: Number of orders taken by each sales rep, cancelled ones included, and how many had no rep.
SELECT COALESCE(CONCAT(r.first_nm, ' ', r.last_nm), '(no rep)') AS rep, COUNT(*) AS orders FROM ord_hd o LEFT JOIN rep r ON r.rep_id = o.rep_id GROUP BY o.rep_id, r.first_nm, r.last_nm ORDER BY orders DESC, rep
-- MY009 mysql wholesale: Category tree with full names, such as Beverages / Soft drinks / Cola.
WITH RECURSIVE t AS (SELECT cat_id, CAST(cat_nm AS CHAR(200)) AS path FROM cat WHERE parent_cat_id IS NULL UNION ALL SELECT c.cat_id, CONCAT(t.path, ' / ', c.cat_nm) FROM cat c JOIN t ON c.parent_cat_id = t.cat_id) SELECT cat_id, path FROM t ORDER BY path
-- MY010 mysql wholesale: Customers that belong to a parent company, with the parent's name.
SELECT c.cust_no, c.nm, p.nm AS parent FROM cust c JOIN cust p ON p.cust_no = c.parent_cust_no ORDER BY c.cust_no
-- MY011 mysql wholesale: Delivered orders from 2024 that aren't fully paid: net value, paid, and open amount (differences of five cents or less don't matter).
WITH v AS (SELECT ord_no, SUM(qty * unit_prc * (1 - COALESCE(disc_pct, 0) / 100)) AS net FROM ord_ln GROUP BY ord_no), p AS (SELECT ord_no, SUM(amt) AS paid FROM pay GROUP BY ord_no)
SELECT o.ord_no, ROUND(v.net, 2) AS net, COALESCE(p.paid, 0) AS paid, ROUND(v.net - COALESCE(p.paid, 0), 2) AS open_amount FROM ord_hd o JOIN v ON v.ord_no = o.ord_no LEFT JOIN p ON p.ord_no = o.ord_no
WHERE o.stat = 'D' AND YEAR(o.ord_dt) = 2024 AND v.net - COALESCE(p.paid, 0) > 0.05 ORDER BY open_amount DESC
-- MY012 mysql wholesale: Returned pieces by reason and what percentage of all returned pieces that is; missing reasons as 'not stated'.
SELECT COALESCE(reason, 'not stated') AS reason, SUM(qty) AS pieces, ROUND(100 * SUM(qty) / (SELECT SUM(qty) FROM rtn), 1) AS pct FROM rtn GROUP BY reason ORDER BY pieces DESC
-- MY013 mysql wholesale: Net sales per quarter of 2024 and 2025 next to the same quarter a year earlier, cancelled orders left out.
WITH q AS (SELECT YEAR(o.ord_dt) AS yr, QUARTER(o.ord_dt) AS qtr, SUM(l.qty * l.unit_prc * (1 - COALESCE(l.disc_pct, 0) / 100)) AS net FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no WHERE o.stat <> 'X' GROUP BY YEAR(o.ord_dt), QUARTER(o.ord_dt))
SELECT a.yr, a.qtr, ROUND(a.net, 2) AS net, ROUND(b.net, 2) AS year_earlier, ROUND(100 * (a.net - b.net) / b.net, 1) AS change_pct FROM q a LEFT JOIN q b ON b.yr = a.yr - 1 AND b.qtr = a.qtr WHERE a.yr IN (2024, 2025) ORDER BY a.yr, a.qtr
-- MY014 mysql wholesale: For each order of Baker & Sons, cancelled or not, its status and the items in one cell.
SELECT o.ord_no, o.ord_dt, o.stat, GROUP_CONCAT(i.descr ORDER BY l.ln_no SEPARATOR ', ') AS items FROM cust c JOIN ord_hd o ON o.cust_no = c.cust_no LEFT JOIN ord_ln l ON l.ord_no = o.ord_no LEFT JOIN item i ON i.item_no = l.item_no WHERE c.nm = 'Baker & Sons' GROUP BY o.ord_no, o.ord_dt, o.stat ORDER BY o.ord_dt
-- MY015 mysql wholesale: Did we ever charge a customer more than list price? Order lines please.
SELECT o.ord_no, l.ln_no, i.descr, i.list_prc, l.unit_prc FROM ord_hd o JOIN ord_ln l ON l.ord_no = o.ord_no JOIN item i ON i.item_no = l.item_no WHERE l.unit_prc > i.list_prc ORDER BY o.ord_no, l.ln_no
-- MY016 mysql clinic: Per insurer (and for people without one): patients with an Austrian mobile number (starting with +43), with a blank number and with none.
SELECT COALESCE(i.name, '(no insurer)') AS insurer, COUNT(*) AS patients, SUM(p.phone <=> '') AS blank, SUM(p.phone IS NULL) AS none, SUM(COALESCE(p.phone LIKE '+43%', 0)) AS austrian FROM patient p LEFT JOIN insurer i ON i.insurer_id = p.insurer_id GROUP BY p.insurer_id, i.name ORDER BY insurer
-- MY017 mysql clinic: Doctors who attended an admission or completed a visit in the first half of 2024, every name once.
SELECT h.full_name FROM admission a JOIN physician h ON h.phys_id = a.attending_id WHERE a.admitted_at >= '2024-01-01' AND a.admitted_at < '2024-07-01'
UNION SELECT h.full_name FROM appt v JOIN physician h ON h.phys_id = v.phys_id WHERE v.status = 'completed' AND v.starts_at >= '2024-01-01' AND v.starts_at < '2024-07-01' ORDER BY 1
-- MY018 mysql clinic: List every patient allergy as its own row.
SELECT p.pat_id, p.last_name, j.allergy FROM patient p JOIN JSON_TABLE(p.allergies, '$[*]' COLUMNS (allergy VARCHAR(40) PATH '$')) j ORDER BY p.pat_id, j.allergy
-- MY019 mysql clinic: Which patients allergic to aspirin were prescribed Ibuprofen?
SELECT p.pat_id, p.last_name, p.first_name FROM patient p WHERE JSON_CONTAINS(p.allergies, '"aspirin"') AND EXISTS (SELECT 1 FROM appt a JOIN rx ON rx.appt_id = a.appt_id JOIN drug d ON d.drug_id = rx.drug_id WHERE a.pat_id = p.pat_id AND d.drug_name = 'Ibuprofen') ORDER BY p.pat_id
-- MY020 mysql clinic: Median LDL value by sex.
SELECT DISTINCT p.sex, MEDIAN(l.value) OVER (PARTITION BY p.sex) AS median_ldl FROM lab l JOIN patient p ON p.pat_id = l.pat_id WHERE l.test = 'LDL' AND l.value IS NOT NULL ORDER BY p.sex
-- MY021 mysql clinic: First and last CRP value of each patient with at least two CRP results.
SELECT pat_id, MAX(CASE WHEN a = 1 THEN value END) AS first_crp, MAX(CASE WHEN d = 1 THEN value END) AS last_crp, COUNT(*) AS results
FROM (SELECT pat_id, value, ROW_NUMBER() OVER (PARTITION BY pat_id ORDER BY taken_on, lab_id) AS a, ROW_NUMBER() OVER (PARTITION BY pat_id ORDER BY taken_on DESC, lab_id DESC) AS d FROM lab WHERE test = 'CRP' AND value IS NOT NULL) t GROUP BY pat_id HAVING COUNT(*) >= 2 ORDER BY pat_id
-- MY022 mysql clinic: Completed visits per physician in 2025, zero if none.
SELECT h.full_name, COUNT(a.appt_id) AS visits FROM physician h LEFT JOIN appt a ON a.phys_id = h.phys_id AND a.status = 'completed' AND a.starts_at >= '2025-01-01' AND a.starts_at < '2026-01-01' GROUP BY h.phys_id, h.full_name ORDER BY visits DESC, h.full_name
-- MY023 mysql clinic: What did the prescribed drugs cost in total per drug class, counting refills as further fills of the same quantity?
SELECT d.drug_class, COUNT(*) AS prescriptions, SUM(r.qty * (1 + r.refills) * d.unit_price) AS cost FROM rx r JOIN drug d ON d.drug_id = r.drug_id GROUP BY d.drug_class ORDER BY cost DESC
-- MY024 mysql clinic: Average length of stay in days by ward and how many patients are still in.
SELECT w.ward_name, COUNT(*) AS stays, ROUND(AVG(TIMESTAMPDIFF(HOUR, a.admitted_at, a.discharged_at)) / 24, 1) AS avg_days, SUM(a.discharged_at IS NULL) AS still_in FROM admission a JOIN ward w ON w.ward_id = a.ward_id GROUP BY w.ward_id, w.ward_name ORDER BY w.ward_name
-- MY025 mysql clinic: Completed visits by patient age at the visit: children (under 18), adults, seniors (65 plus).
SELECT CASE WHEN TIMESTAMPDIFF(YEAR, p.dob, a.starts_at) < 18 THEN 'children' WHEN TIMESTAMPDIFF(YEAR, p.dob, a.starts_at) < 65 THEN 'adults' ELSE 'seniors' END AS age_group, COUNT(*) AS visits, COUNT(DISTINCT a.pat_id) AS patients FROM appt a JOIN patient p ON p.pat_id = a.pat_id WHERE a.status = 'completed' GROUP BY age_group ORDER BY visits DESC
-- MY026 mysql clinic: Percentage of bills paid in full, by payer group: patients with insurance versus without.
WITH p AS (SELECT bill_id, SUM(amount) AS paid FROM bill_pay GROUP BY bill_id)
SELECT IF(t.insurer_id IS NULL, 'uninsured', 'insured') AS payer_group, COUNT(*) AS bills, SUM(COALESCE(p.paid, 0) >= b.total) AS paid_in_full, ROUND(100 * SUM(COALESCE(p.paid, 0) >= b.total) / COUNT(*), 1) AS pct
FROM bill b JOIN appt a ON a.appt_id = b.appt_id JOIN patient t ON t.pat_id = a.pat_id LEFT JOIN p ON p.bill_id = b.bill_id GROUP BY payer_group ORDER BY payer_group
-- MY027 mysql clinic: Cities where patients live, from which nobody came in for a completed visit.
SELECT city FROM patient WHERE city IS NOT NULL EXCEPT SELECT p.city FROM patient p JOIN appt a ON a.pat_id = p.pat_id WHERE a.status = 'completed'
-- MY028 mysql clinic: Diagnoses by code with share of total and cumulative share, primary diagnoses only.
WITH c AS (SELECT icd, COUNT(*) AS n FROM diagnosis WHERE is_primary = 1 GROUP BY icd)
SELECT c.icd, i.title, c.n, ROUND(100 * c.n / SUM(c.n) OVER (), 1) AS pct, ROUND(100 * SUM(c.n) OVER (ORDER BY c.n DESC, c.icd) / SUM(c.n) OVER (), 1) AS cumulative_pct FROM c JOIN icd_code i ON i.icd = c.icd ORDER BY c.n DESC, c.icd
-- MY029 mysql clinic: Which patients came to the most completed visits? Top five with ties.
SELECT p.pat_id, p.last_name, p.first_name, COUNT(*) AS visits FROM appt a JOIN patient p ON p.pat_id = a.pat_id WHERE a.status = 'completed' GROUP BY p.pat_id, p.last_name, p.first_name ORDER BY visits DESC FETCH FIRST 5 ROWS WITH TIES
-- MY030 mysql clinic: Names for the door list: all active doctors and then all patients admitted right now, saying which is which.
SELECT full_name AS name, 'doctor' AS kind FROM physician WHERE active = 1 UNION ALL SELECT CONCAT(p.first_name, ' ', p.last_name), 'patient' FROM admission a JOIN patient p ON p.pat_id = a.pat_id WHERE a.discharged_at IS NULL ORDER BY kind, name
-- MY031 mysql saas: Each plan with its fee, the average seats of its live subscriptions and the average seats of all live subscriptions.
SELECT p.title, p.monthly_fee, (SELECT ROUND(AVG(s.seats), 1) FROM sub s WHERE s.plan_code = p.plan_code AND s.end_on IS NULL) AS avg_seats, (SELECT ROUND(AVG(seats), 1) FROM sub WHERE end_on IS NULL) AS avg_all FROM plan p ORDER BY p.tier_rank
-- MY032 mysql saas: Owners we should write to: owner emails of organisations with an overdue open invoice as of 31 December 2025, with the overdue amount and currency.
WITH od AS (SELECT i.org_id, i.currency, SUM(l.amount) AS overdue FROM inv i JOIN inv_line l ON l.inv_id = i.inv_id WHERE i.state = 'open' AND i.due_on < '2025-12-31' GROUP BY i.org_id, i.currency)
SELECT o.org_name, m.email, od.overdue, od.currency FROM od JOIN org o ON o.org_id = od.org_id LEFT JOIN member m ON m.org_id = od.org_id AND m.role = 'owner' AND m.deleted_at IS NULL ORDER BY od.overdue DESC, o.org_name
-- MY033 mysql saas: For how many organisations is single sign-on turned on in the settings, turned off, or not configured?
SELECT CASE WHEN settings IS NULL THEN 'not configured' WHEN JSON_VALUE(settings, '$.sso') = 1 THEN 'on' ELSE 'off' END AS sso, COUNT(*) AS orgs FROM org GROUP BY 1 ORDER BY 1
-- MY034 mysql saas: Ticket labels and the number of tickets still open with each.
SELECT j.label, COUNT(*) AS open_tickets FROM ticket t JOIN JSON_TABLE(t.labels, '$[*]' COLUMNS (label VARCHAR(40) PATH '$')) j WHERE t.closed_at IS NULL GROUP BY j.label ORDER BY open_tickets DESC, j.label
-- MY035 mysql saas: Exported rows per organisation, the five biggest.
SELECT o.org_name, SUM(CAST(JSON_VALUE(e.props, '$.rows') AS UNSIGNED)) AS exported_rows FROM evt e JOIN member m ON m.member_id = e.member_id JOIN org o ON o.org_id = m.org_id WHERE e.evt_name = 'export' GROUP BY o.org_id, o.org_name ORDER BY exported_rows DESC LIMIT 5
-- MY036 mysql saas: New organisations per month in 2024, months without any shown as 0.
WITH RECURSIVE m AS (SELECT DATE '2024-01-01' AS d UNION ALL SELECT d + INTERVAL 1 MONTH FROM m WHERE d < '2024-12-01') SELECT DATE_FORMAT(m.d, '%Y-%m') AS month, COUNT(o.org_id) AS new_orgs FROM m LEFT JOIN org o ON o.created_on >= m.d AND o.created_on < m.d + INTERVAL 1 MONTH GROUP BY m.d ORDER BY m.d
-- MY037 mysql saas: The five live subscriptions with the most seats, including all that tie with the fifth; organisation, plan and seats.
SELECT org_name, title, seats FROM (SELECT o.org_name, p.title, s.seats, RANK() OVER (ORDER BY s.seats DESC) AS pos FROM sub s JOIN org o ON o.org_id = s.org_id JOIN plan p ON p.plan_code = s.plan_code WHERE s.end_on IS NULL) x WHERE pos <= 5 ORDER BY seats DESC, org_name
-- MY038 mysql saas: Organisations that had a subscription before but have none running now.
SELECT o.org_id, o.org_name FROM org o WHERE EXISTS (SELECT 1 FROM sub s WHERE s.org_id = o.org_id) AND NOT EXISTS (SELECT 1 FROM sub s WHERE s.org_id = o.org_id AND s.end_on IS NULL) ORDER BY o.org_id
-- MY039 mysql saas: Invoices with a credit line: total after credit and the credit itself.
SELECT i.inv_id, i.state, SUM(l.amount) AS total, SUM(CASE WHEN l.kind = 'credit' THEN l.amount ELSE 0 END) AS credit FROM inv i JOIN inv_line l ON l.inv_id = i.inv_id GROUP BY i.inv_id, i.state HAVING SUM(l.kind = 'credit') > 0 ORDER BY i.inv_id
-- MY040 mysql saas: Rank the organisations by support tickets per member.
SELECT org_name, tickets, members, ROUND(tickets / members, 2) AS per_member, DENSE_RANK() OVER (ORDER BY tickets / members DESC) AS pos
FROM (SELECT o.org_name, (SELECT COUNT(*) FROM ticket t WHERE t.org_id = o.org_id) AS tickets, (SELECT COUNT(*) FROM member m WHERE m.org_id = o.org_id) AS members FROM org o) x ORDER BY pos, org_name
-- MY041 mysql saas: For each member, the number of events and messages together; top ten, ties by member number.
SELECT member_id, COUNT(*) AS actions FROM (SELECT member_id FROM evt UNION ALL SELECT author_id FROM ticket_msg WHERE author_id IS NOT NULL) x GROUP BY member_id ORDER BY actions DESC, member_id LIMIT 10
-- MY042 mysql saas: By the year organisations signed up: how many, how many have a live paid plan now, and the percentage.
SELECT YEAR(o.created_on) AS signed_up, COUNT(*) AS orgs, SUM(EXISTS (SELECT 1 FROM sub s JOIN plan p ON p.plan_code = s.plan_code WHERE s.org_id = o.org_id AND s.end_on IS NULL AND p.monthly_fee > 0)) AS paying,
       ROUND(100 * SUM(EXISTS (SELECT 1 FROM sub s JOIN plan p ON p.plan_code = s.plan_code WHERE s.org_id = o.org_id AND s.end_on IS NULL AND p.monthly_fee > 0)) / COUNT(*), 1) AS pct FROM org o GROUP BY YEAR(o.created_on) ORDER BY signed_up
-- MY043 mysql saas: Events by weekday and type: logins, exports and everything else.
SELECT DAYNAME(ts_utc) AS weekday, SUM(evt_name = 'login') AS logins, SUM(evt_name = 'export') AS exports, SUM(evt_name NOT IN ('login', 'export')) AS other FROM evt GROUP BY WEEKDAY(ts_utc), DAYNAME(ts_utc) ORDER BY WEEKDAY(ts_utc)
-- MY044 mysql saas: NPS by industry for industries with at least five answers.
SELECT o.industry, COUNT(*) AS answers, ROUND(100 * (SUM(n.score >= 9) - SUM(n.score <= 6)) / COUNT(*), 1) AS nps FROM nps n JOIN member m ON m.member_id = n.member_id JOIN org o ON o.org_id = m.org_id GROUP BY o.industry HAVING COUNT(*) >= 5 ORDER BY nps DESC
-- MY045 mysql saas: Any ticket messages sent before the ticket was opened?
SELECT x.msg_id, x.ticket_id, x.sent_at, t.opened_at FROM ticket_msg x JOIN ticket t ON t.ticket_id = x.ticket_id WHERE x.sent_at < t.opened_at
-- MY046 mysql hr: For each current person in Customer Care: number of absences, number of courses passed and the rating of the latest review.
SELECT e.given, e.family, (SELECT COUNT(*) FROM absence a WHERE a.emp_id = e.emp_id) AS absences, (SELECT COUNT(n.passed_dt) FROM enrol n WHERE n.emp_id = e.emp_id) AS courses_passed,
       (SELECT r.rating FROM review r WHERE r.emp_id = e.emp_id ORDER BY r.yr DESC LIMIT 1) AS last_rating
FROM emp e JOIN org_unit u ON u.unit_id = e.unit_id WHERE u.unit_name = 'Customer Care' AND e.term_dt IS NULL ORDER BY e.family, e.given
-- MY047 mysql hr: Where in the pay band do our people stand? Per job: people, average current salary, and that average as a percentage of the middle of the band.
WITH l AS (SELECT emp_id, MAX(eff_dt) AS eff_dt FROM sal_hist GROUP BY emp_id), cur AS (SELECT s.emp_id, s.annual FROM sal_hist s JOIN l ON l.emp_id = s.emp_id AND l.eff_dt = s.eff_dt)
SELECT j.job_title, COUNT(*) AS people, ROUND(AVG(c.annual), 0) AS avg_salary, ROUND(100 * AVG(c.annual) / ((j.min_sal + j.max_sal) / 2), 1) AS pct_of_mid FROM emp e JOIN cur c ON c.emp_id = e.emp_id JOIN job j ON j.job_cd = e.job_cd WHERE e.term_dt IS NULL GROUP BY j.job_cd, j.job_title, j.min_sal, j.max_sal ORDER BY pct_of_mid DESC
-- MY048 mysql hr: The latest salary and since when, for everybody in the Data unit.
SELECT given, family, annual, eff_dt FROM (SELECT e.emp_id, e.given, e.family, s.annual, s.eff_dt, ROW_NUMBER() OVER (PARTITION BY e.emp_id ORDER BY s.eff_dt DESC) AS rn FROM emp e JOIN sal_hist s ON s.emp_id = e.emp_id JOIN org_unit u ON u.unit_id = e.unit_id WHERE u.unit_name = 'Data') t WHERE rn = 1 ORDER BY annual DESC, emp_id
-- MY049 mysql hr: Headcount of current staff per top-level division (the units directly under Group), sub-units included.
WITH RECURSIVE t AS (SELECT unit_id AS top_id, unit_name AS top_name, unit_id FROM org_unit WHERE parent_unit_id = 1 UNION ALL SELECT t.top_id, t.top_name, u.unit_id FROM t JOIN org_unit u ON u.parent_unit_id = t.unit_id)
SELECT t.top_name, COUNT(e.emp_id) AS headcount FROM t LEFT JOIN emp e ON e.unit_id = t.unit_id AND e.term_dt IS NULL GROUP BY t.top_id, t.top_name ORDER BY headcount DESC
-- MY050 mysql hr: How many people report directly to each manager, not counting those who left?
SELECT m.given, m.family, COUNT(*) AS direct_reports FROM emp e JOIN emp m ON m.emp_id = e.mgr_id WHERE e.term_dt IS NULL GROUP BY m.emp_id, m.given, m.family ORDER BY direct_reports DESC, m.family
-- MY051 mysql hr: Total gross pay for 2025 by payroll month with a grand total at the end.
SELECT COALESCE(CAST(t.run_id AS CHAR), 'total') AS run, t.gross FROM (SELECT run_id, SUM(gross) AS gross FROM payslip GROUP BY run_id WITH ROLLUP) t ORDER BY t.run_id IS NULL, t.run_id
-- MY052 mysql hr: Cumulative gross pay of Maya Cruz over the 2025 payrolls.
SELECT r.period_end, p.gross, SUM(p.gross) OVER (ORDER BY r.period_end) AS cumulative FROM payslip p JOIN payrun r ON r.run_id = p.run_id JOIN emp e ON e.emp_id = p.emp_id WHERE e.given = 'Maya' AND e.family = 'Cruz' ORDER BY r.period_end
-- MY053 mysql hr: Median review rating for 2023 and for 2024, unrated reviews ignored.
SELECT DISTINCT yr, MEDIAN(rating) OVER (PARTITION BY yr) AS median_rating FROM review WHERE rating IS NOT NULL ORDER BY yr
-- MY054 mysql hr: Current employees who took no vacation starting in 2024, leaving aside people hired after 2023; rejected requests don't count as taken.
SELECT e.emp_id, e.given, e.family FROM emp e WHERE e.term_dt IS NULL AND e.hire_dt < '2024-01-01' AND NOT EXISTS (SELECT 1 FROM absence a WHERE a.emp_id = e.emp_id AND a.kind = 'vacation' AND YEAR(a.from_dt) = 2024 AND (a.approved = 1 OR a.approved IS NULL)) ORDER BY e.emp_id
-- MY055 mysql hr: Overtime as a percentage of gross pay by job, only for jobs where overtime is recorded.
SELECT j.job_title, SUM(p.gross) AS gross, SUM(p.overtime) AS overtime, ROUND(100 * SUM(p.overtime) / SUM(p.gross), 2) AS pct FROM payslip p JOIN emp e ON e.emp_id = p.emp_id JOIN job j ON j.job_cd = e.job_cd WHERE p.overtime IS NOT NULL GROUP BY j.job_cd, j.job_title ORDER BY pct DESC
-- MY056 mysql hr: How many current employees have been here under 2 years, 2 to 5 years, and more than 5, as of 1 October 2025?
SELECT CASE WHEN TIMESTAMPDIFF(MONTH, hire_dt, '2025-10-01') < 24 THEN 'under 2' WHEN hire_dt >= '2020-10-01' THEN '2 to 5' ELSE 'over 5' END AS tenure, COUNT(*) AS people FROM emp WHERE term_dt IS NULL GROUP BY tenure ORDER BY MAX(hire_dt) DESC
-- MY057 mysql hr: People with three or more skills and what they are.
SELECT e.given, e.family, COUNT(*) AS skills, GROUP_CONCAT(s.skill ORDER BY s.skill SEPARATOR ', ') AS list FROM emp e JOIN skill s ON s.emp_id = e.emp_id GROUP BY e.emp_id, e.given, e.family HAVING COUNT(*) >= 3 ORDER BY skills DESC, e.emp_id
-- MY058 mysql hr: Next to the cheapest and dearest gross pay in the August 2025 payroll, show the number of slips and who got the dearest.
SELECT MIN(gross) AS lowest, MAX(gross) AS highest, COUNT(*) AS slips, (SELECT GROUP_CONCAT(CONCAT(e.given, ' ', e.family)) FROM payslip x JOIN emp e ON e.emp_id = x.emp_id WHERE x.run_id = 202508 AND x.gross = (SELECT MAX(gross) FROM payslip WHERE run_id = 202508)) AS top_earner FROM payslip WHERE run_id = 202508
-- MY059 mysql hr: Data quality check: people without a unit, without a manager, and vacancies filled without saying by whom, each with its count.
SELECT 'employee without unit' AS problem, COUNT(*) AS cases FROM emp WHERE unit_id IS NULL UNION ALL SELECT 'employee without manager', COUNT(*) FROM emp WHERE mgr_id IS NULL UNION ALL SELECT 'filled vacancy without name', COUNT(*) FROM vacancy WHERE filled_dt IS NOT NULL AND filled_by IS NULL
-- MY060 mysql hr: Which employees have no salary on record?
SELECT e.emp_id, e.given, e.family FROM emp e LEFT JOIN sal_hist s ON s.emp_id = e.emp_id WHERE s.emp_id IS NULL
-- MY061 mysql energy: Billed amounts by tariff and bill status with a subtotal per tariff and a grand total.
SELECT COALESCE(label, 'all tariffs') AS tariff, COALESCE(status, 'all') AS bill_status, bills, amount FROM (SELECT t.label, b.status, COUNT(*) AS bills, SUM(b.amt) AS amount FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN tariff t ON t.tariff_id = c.tariff_id GROUP BY t.label, b.status WITH ROLLUP) x ORDER BY label IS NULL, label, status IS NULL, status
-- MY062 mysql energy: Average monthly consumption between the first and the last reading for electricity meters in flats; take a month as 30 days.
SELECT m.serial, ROUND(30 * (MAX(r.kwh_total) - MIN(r.kwh_total)) / DATEDIFF(MAX(r.read_dt), MIN(r.read_dt)), 1) AS kwh_per_month FROM reading r JOIN meter m ON m.meter_id = r.meter_id JOIN premise p ON p.premise_id = m.premise_id WHERE m.fuel = 'E' AND p.kind = 'flat' GROUP BY m.meter_id, m.serial HAVING COUNT(*) > 1 ORDER BY kwh_per_month DESC
-- MY063 mysql energy: How did each tariff's day price change from 2024 to 2025, in percent?
SELECT t.label, a.price_kwh AS price_2024, b.price_kwh AS price_2025, ROUND(100 * (b.price_kwh - a.price_kwh) / a.price_kwh, 2) AS change_pct FROM tariff t JOIN tariff_rate a ON a.tariff_id = t.tariff_id AND a.band = 'DAY' AND a.valid_from = '2024-01-01' LEFT JOIN tariff_rate b ON b.tariff_id = t.tariff_id AND b.band = 'DAY' AND b.valid_from = '2025-01-01' ORDER BY t.tariff_id
-- MY064 mysql energy: Each meter alert as a row: serial number, address and alert.
SELECT m.serial, p.addr, j.alert FROM meter m JOIN premise p ON p.premise_id = m.premise_id JOIN JSON_TABLE(m.config, '$.alerts[*]' COLUMNS (alert VARCHAR(30) PATH '$')) j ORDER BY m.serial, j.alert
-- MY065 mysql energy: Which accounts had no contract running on 31 August 2025?
SELECT a.acct_id, a.holder FROM acct a WHERE NOT EXISTS (SELECT 1 FROM contract c WHERE c.acct_id = a.acct_id AND c.start_dt <= '2025-08-31' AND (c.end_dt IS NULL OR c.end_dt >= '2025-08-31')) ORDER BY a.acct_id
-- MY066 mysql energy: For every unpaid bill: amount, received so far, still to pay.
SELECT b.bill_no, a.holder, b.amt, COALESCE(r.got, 0) AS received, b.amt - COALESCE(r.got, 0) AS to_pay FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN acct a ON a.acct_id = c.acct_id LEFT JOIN (SELECT bill_no, SUM(amt) AS got FROM receipt GROUP BY bill_no) r ON r.bill_no = b.bill_no WHERE b.status = 'DUE' ORDER BY to_pay DESC, b.bill_no
-- MY067 mysql energy: The two highest bills of each tariff, void ones aside.
SELECT label, bill_no, amt FROM (SELECT t.label, b.bill_no, b.amt, ROW_NUMBER() OVER (PARTITION BY t.tariff_id ORDER BY b.amt DESC, b.bill_no) AS rn FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN tariff t ON t.tariff_id = c.tariff_id WHERE b.status <> 'VOID') x WHERE rn <= 2 ORDER BY label, amt DESC
-- MY068 mysql energy: Visits per crew and outcome, with unrecorded outcomes in their own column.
SELECT crew, SUM(outcome <=> 'ok') AS ok, SUM(outcome <=> 'no access') AS no_access, SUM(outcome <=> 'replaced part') AS replaced_part, SUM(outcome IS NULL) AS not_recorded FROM visit GROUP BY crew ORDER BY crew
-- MY069 mysql energy: Complaints raised per month in 2024, including months with none, split into billing and other.
WITH RECURSIVE m AS (SELECT DATE '2024-01-01' AS d UNION ALL SELECT d + INTERVAL 1 MONTH FROM m WHERE d < '2024-12-01') SELECT DATE_FORMAT(m.d, '%Y-%m') AS month, COALESCE(SUM(k.topic = 'billing'), 0) AS billing, COALESCE(SUM(k.topic <> 'billing'), 0) AS other FROM m LEFT JOIN complaint k ON k.raised >= m.d AND k.raised < m.d + INTERVAL 1 MONTH GROUP BY m.d ORDER BY m.d
-- MY070 mysql energy: Areas that had both a storm outage and a planned outage.
SELECT a.area_name FROM outage o JOIN area a ON a.area_id = o.area_id WHERE o.cause = 'storm' INTERSECT SELECT a.area_name FROM outage o JOIN area a ON a.area_id = o.area_id WHERE o.cause = 'planned' ORDER BY 1
-- MY071 mysql energy: What percentage of our meters had an engineer's visit in 2025?
SELECT (SELECT COUNT(DISTINCT meter_id) FROM visit WHERE YEAR(visit_dt) = 2025) AS visited, (SELECT COUNT(*) FROM meter) AS meters, ROUND(100 * (SELECT COUNT(DISTINCT meter_id) FROM visit WHERE YEAR(visit_dt) = 2025) / (SELECT COUNT(*) FROM meter), 1) AS pct
-- MY072 mysql energy: Accounts that need a call: those with a complaint still unresolved or with an unpaid bill for a 2024 period, each account once.
SELECT a.acct_id, a.holder FROM complaint k JOIN acct a ON a.acct_id = k.acct_id WHERE k.closed IS NULL
UNION SELECT a.acct_id, a.holder FROM bill b JOIN contract c ON c.contract_id = b.contract_id JOIN acct a ON a.acct_id = c.acct_id WHERE b.status = 'DUE' AND b.period_to <= '2024-12-31' ORDER BY 1
-- MY073 mysql energy: Which meters changed tariff, from which to which and when?
SELECT serial, from_tariff, to_tariff, changed_on FROM (SELECT m.serial, t.tariff_id, t.label AS to_tariff, LAG(t.label) OVER w AS from_tariff, LAG(t.tariff_id) OVER w AS prev_id, c.start_dt AS changed_on FROM contract c JOIN meter m ON m.meter_id = c.meter_id JOIN tariff t ON t.tariff_id = c.tariff_id WINDOW w AS (PARTITION BY c.meter_id ORDER BY c.start_dt)) x WHERE prev_id <> tariff_id ORDER BY serial
-- MY074 mysql energy: Did any meter's reading ever go down compared with the one before?
SELECT meter_id, read_dt, kwh_total, before_kwh FROM (SELECT meter_id, read_dt, kwh_total, LAG(kwh_total) OVER (PARTITION BY meter_id ORDER BY read_dt) AS before_kwh FROM reading) t WHERE kwh_total < before_kwh
-- MY075 mysql energy: By area: premises, meters, and accounts that ever had a contract there.
SELECT a.area_name, COUNT(DISTINCT p.premise_id) AS premises, COUNT(DISTINCT m.meter_id) AS meters, COUNT(DISTINCT c.acct_id) AS accounts FROM area a LEFT JOIN premise p ON p.area_id = a.area_id LEFT JOIN meter m ON m.premise_id = p.premise_id LEFT JOIN contract c ON c.meter_id = m.meter_id GROUP BY a.area_id, a.area_name ORDER BY a.area_id
