"""Any other database that SQLAlchemy has a dialect for, with what can be promised there."""
