-- Kestrel Cycles: bicycle shops with a web shop, a workshop and a loyalty scheme.
CREATE TABLE countries (
    country_code TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    currency TEXT NOT NULL
);
CREATE TABLE stores (
    store_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    city TEXT NOT NULL,
    country_code TEXT NOT NULL REFERENCES countries (country_code),
    opened_on DATE NOT NULL,
    floor_area INTEGER -- square metres; NULL for the web shop
);
CREATE TABLE employees (
    employee_id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    role TEXT NOT NULL,
    store_id INTEGER NOT NULL REFERENCES stores (store_id),
    manager_id INTEGER REFERENCES employees (employee_id),
    hired_on DATE NOT NULL,
    left_on DATE, -- NULL while employed
    salary INTEGER NOT NULL -- a year, in the currency of the store's country
);
CREATE TABLE customers (
    customer_id INTEGER PRIMARY KEY,
    first_name TEXT NOT NULL,
    last_name TEXT NOT NULL,
    email TEXT,
    city TEXT NOT NULL,
    country_code TEXT NOT NULL REFERENCES countries (country_code),
    joined_on DATE NOT NULL,
    loyalty_tier TEXT -- Bronze, Silver, Gold; NULL outside the scheme
);
CREATE TABLE suppliers (
    supplier_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    country_code TEXT NOT NULL REFERENCES countries (country_code)
);
CREATE TABLE categories (
    category_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    parent_id INTEGER REFERENCES categories (category_id)
);
CREATE TABLE products (
    product_id INTEGER PRIMARY KEY,
    name TEXT NOT NULL,
    category_id INTEGER NOT NULL REFERENCES categories (category_id),
    supplier_id INTEGER NOT NULL REFERENCES suppliers (supplier_id),
    price REAL NOT NULL,
    weight_kg REAL,
    discontinued BOOLEAN NOT NULL DEFAULT 0
);
CREATE TABLE tags (
    tag_id INTEGER PRIMARY KEY,
    label TEXT NOT NULL UNIQUE
);
CREATE TABLE product_tags (
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    tag_id INTEGER NOT NULL REFERENCES tags (tag_id),
    PRIMARY KEY (product_id, tag_id)
) WITHOUT ROWID;
CREATE TABLE orders (
    order_id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    store_id INTEGER NOT NULL REFERENCES stores (store_id),
    employee_id INTEGER REFERENCES employees (employee_id), -- NULL for web orders
    ordered_on DATE NOT NULL,
    shipped_on DATE, -- NULL until sent
    status TEXT NOT NULL -- open, shipped, returned, cancelled
);
CREATE TABLE "order lines" (
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    line INTEGER NOT NULL,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    quantity INTEGER NOT NULL,
    "unit price" REAL NOT NULL,
    "discount %" INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (order_id, line)
);
CREATE TABLE payments (
    payment_id INTEGER PRIMARY KEY,
    order_id INTEGER NOT NULL REFERENCES orders (order_id),
    paid_on DATE NOT NULL,
    method TEXT NOT NULL, -- card, bank transfer, cash, voucher
    amount REAL NOT NULL
);
CREATE TABLE reviews (
    review_id INTEGER PRIMARY KEY,
    product_id INTEGER NOT NULL REFERENCES products (product_id),
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    rating INTEGER NOT NULL, -- 1 to 5
    comment TEXT,
    written_on DATE NOT NULL
);
CREATE TABLE repairs (
    repair_id INTEGER PRIMARY KEY,
    customer_id INTEGER NOT NULL REFERENCES customers (customer_id),
    employee_id INTEGER NOT NULL REFERENCES employees (employee_id),
    bicycle TEXT NOT NULL,
    received_on DATE NOT NULL,
    finished_on DATE, -- NULL while in the workshop
    cost REAL -- NULL until priced
);
CREATE INDEX orders_by_customer ON orders (customer_id);
CREATE INDEX lines_by_product ON "order lines" (product_id);
CREATE INDEX payments_by_order ON payments (order_id);
CREATE VIEW active_employees AS
    SELECT employee_id, first_name, last_name, role, store_id, hired_on, salary FROM employees WHERE left_on IS NULL;
