"""Billing: charges, retries, refunds, invoices and the ledger of the shop."""
