export interface BillingTables {
  plan_price: PlanPriceTable;
  plan_undo: PlanUndoTable;
  billing_statement: StatementTable;
  statement_key: StatementKeyTable;
}

/** Price of a plan from `since` on. The price at the end of a month applies to the whole month. */
export interface PlanPriceTable {
  plan_id: string;
  /** Unix milliseconds. */
  since: number;
  /** ISO 4217, lower case; empty: the plan has no price. */
  currency: string;
  /** In minor units of the currency, such as cents. */
  monthly_price: number;
  /** Credits that the monthly price covers. */
  included_credits: number;
  /** Price of a million further credits, in minor units. */
  price_per_million: number;
}

/** State before the last change of a plan, or of the plan of a customer. */
export interface PlanUndoTable {
  /** `plan:` or `customer:`, and the id. */
  subject: string;
  at: number;
  /** JSON. */
  state: string;
}

/** Statement of a closed month. Append-only. */
export interface StatementTable {
  id: string;
  customer_id: string;
  /** Start of the month (UTC) in Unix milliseconds. */
  month: number;
  closed_at: number;
  /** JSON of a `StatementJson`. The signature covers it and a final line feed. */
  body: string;
  /** Ed25519, base64. */
  signature: string;
  key_id: string;
}

/** A public key that verifies statements. */
export interface StatementKeyTable {
  /** Start of the SHA-256 of the key. */
  id: string;
  /** PEM. */
  public_key: string;
  created_at: number;
}

export const billingTables = `
  alter table plan add column archived_at bigint;
  create table plan_price (
    plan_id text not null, since bigint not null, currency text not null, monthly_price bigint not null,
    included_credits bigint not null, price_per_million bigint not null,
    constraint plan_price_row primary key (plan_id, since)
  );
  create table plan_undo (subject text primary key, at bigint not null, state text not null);
  create table billing_statement (
    id text primary key, customer_id text not null, month bigint not null, closed_at bigint not null,
    body text not null, signature text not null, key_id text not null,
    constraint billing_statement_month unique (month, customer_id)
  );
  create table statement_key (id text primary key, public_key text not null, created_at bigint not null)`;
