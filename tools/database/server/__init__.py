"""Parts that engines of servers share: statement checks, pools, limits, schemas, samples."""
