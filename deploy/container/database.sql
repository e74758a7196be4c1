-- Once, when PostgreSQL's volume is new: an account that is no superuser, and its database.
\set password `cat /run/secrets/postgres-tertulia`
create role tertulia login replication password :'password';
create database tertulia owner tertulia encoding 'UTF8' template template0;
