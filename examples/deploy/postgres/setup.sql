-- The database and its owner: psql -v password=... -f setup.sql
SET password_encryption = 'scram-sha-256';
CREATE ROLE vitrine LOGIN PASSWORD :'password';
CREATE DATABASE vitrine OWNER vitrine ENCODING 'UTF8' LOCALE 'C' TEMPLATE template0;
