export interface BillingTables {
  plan_price: PlanPriceTable;
  plan_undo: PlanUndoTable;
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

export const billingTables = `
  alter table plan add column archived_at bigint;
  create table plan_price (
    plan_id text not null, since bigint not null, currency text not null, monthly_price bigint not null,
    included_credits bigint not null, price_per_million bigint not null,
    constraint plan_price_row primary key (plan_id, since)
  );
  create table plan_undo (subject text primary key, at bigint not null, state text not null)`;
