export interface BillingTables {
  plan_price: PlanPriceTable;
  plan_undo: PlanUndoTable;
  billing_statement: StatementTable;
  statement_key: StatementKeyTable;
  stripe_customer: StripeCustomerTable;
  stripe_event: StripeEventTable;
  stripe_total: StripeTotalTable;
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

/** A public key that verifies statements. Append-only. */
export interface StatementKeyTable {
  /** Start of the SHA-256 of the key. */
  id: string;
  /** PEM. */
  public_key: string;
  created_at: number;
}

/** Customers whose usage is sent to Stripe. */
export interface StripeCustomerTable {
  customer_id: string;
  /** Stripe customer ID. */
  stripe_id: string;
  /** Usage from this time on is sent. */
  since: number;
  /** The first hour since 1970 that was not queued yet. */
  next_hour: number;
}

/** Credits of one hour, sent as one Stripe meter event. Late usage adds further events. */
export interface StripeEventTable {
  /** Identifier that Stripe accepts once. */
  id: string;
  customer_id: string;
  stripe_id: string;
  /** Hours since 1970. */
  hour: number;
  /** Number of the event within its hour. */
  number: number;
  credits: number;
  /** `failed`: given up. */
  state: 'pending' | 'sent' | 'failed';
  attempts: number;
  /** Time of the next attempt; while a gateway has claimed the event, the end of its lease; once sent, the time of that. */
  due_at: number;
  /** Time of the first attempt whose outcome is unknown; null: Stripe does not have the event. */
  outcome_unknown_since: number | null;
  problem: string | null;
  created_at: number;
}

/** The last comparison of a month of a customer with the meter of Stripe. */
export interface StripeTotalTable {
  customer_id: string;
  /** Start of the month (UTC) in Unix milliseconds. */
  month: number;
  stripe_id: string;
  /** Credits that Stripe has accepted from this service. */
  sent: number;
  /** Credits that Stripe has; null: it has no such customer. */
  total: number | null;
  compared_at: number;
  /** Since when they differ; null: they are equal. */
  problem_since: number | null;
}

export const stripeTotalTable = `
  create table stripe_total (
    customer_id text not null, month bigint not null, stripe_id text not null, sent bigint not null,
    total bigint, compared_at bigint not null, problem_since bigint,
    constraint stripe_total_month primary key (customer_id, month)
  );
  create index stripe_event_stripe on stripe_event (stripe_id, hour)`;

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
  create table statement_key (id text primary key, public_key text not null, created_at bigint not null);
  create table stripe_customer (
    customer_id text primary key, stripe_id text not null unique, since bigint not null,
    next_hour bigint not null
  );
  create table stripe_event (
    id text primary key, customer_id text not null, stripe_id text not null, hour bigint not null,
    number bigint not null, credits bigint not null, state text not null, attempts integer not null,
    due_at bigint not null, outcome_unknown_since bigint, problem text, created_at bigint not null
  );
  create index stripe_event_state on stripe_event (state, hour, number);
  create index stripe_event_customer on stripe_event (customer_id, hour)`;
