"""An answer that takes its time, for `tertulia doctor`: does the proxy in front pass on what comes, and wait for the rest?

Only who has the sealing key of the server can ask for one: nobody else makes a process hold a connection open without an account.
"""
