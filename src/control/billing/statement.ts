import { createHash, createPrivateKey, createPublicKey, hkdfSync, type KeyObject, sign } from 'node:crypto';
import type { Kysely } from 'kysely';
import { findRow, insertRow, pagesOf, selectRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import type { StatementTable } from '../database/tables/billing.ts';
import { transact } from '../database/transaction.ts';
import type { Peppers } from '../pepper.ts';
import {
  amountsOf,
  type Bill,
  type BilledCustomer,
  type Money,
  readBills,
  totalsOf,
  usageAmount,
} from './bill.ts';
import { type Month, previousMonth } from './month.ts';

/** Usage of the previous month that arrived after its statement. */
type LateUsage = Readonly<{
  month: string;
  planId: string;
  credits: number;
  currency: string;
  amount: number;
}>;

/** Content of a statement. Amounts are in minor units of the currency, such as cents. */
export type StatementJson = Bill &
  Readonly<{
    id: string;
    /** ISO 8601; `to` is exclusive. */
    period: Readonly<{ month: string; from: string; to: string }>;
    closedAt: string;
    lateUsage: readonly LateUsage[];
    totals: readonly Money[];
  }>;

/** DER of an Ed25519 private key (PKCS #8) up to its 32 bytes. Source: RFC 8410, section 7. */
const PRIVATE_KEY_START = Buffer.from('302e020100300506032b657004220420', 'hex');

/** Signs statements with an Ed25519 key derived from the current pepper, so that all gateways have the same key. */
export class StatementSigner {
  readonly #privateKey: KeyObject;
  /** PEM. */
  readonly publicKey: string;
  readonly keyId: string;

  constructor({ current, secrets }: Peppers) {
    const seed = Buffer.from(hkdfSync('sha256', secrets.get(current)!, '', 'solway billing statements', 32));
    const der = Buffer.concat([PRIVATE_KEY_START, seed]);
    this.#privateKey = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey(this.#privateKey);
    this.publicKey = publicKey.export({ type: 'spki', format: 'pem' }).toString();
    const digest = createHash('sha256').update(publicKey.export({ type: 'spki', format: 'der' }));
    this.keyId = digest.digest('hex').slice(0, 16);
  }

  /** @returns base64. */
  sign(text: string): string {
    return sign(null, Buffer.from(text), this.#privateKey).toString('base64');
  }
}

export const findStatement = (db: Kysely<Schema>, customerId: string, month: Month) =>
  findRow(db, 'billing_statement', { customer_id: customerId, month: month.from });

/** The signed bytes of a statement. */
export const statementText = ({ body }: Pick<StatementTable, 'body'>): string => `${body}\n`;

export const statementOf = ({ body }: Pick<StatementTable, 'body'>): StatementJson => JSON.parse(body);

/** Usage of a closed month that its statement does not contain. */
export function lateUsageOf(statement: StatementJson, currentBill: Bill): LateUsage[] {
  return currentBill.lines.flatMap(({ planId, credits, price: currentPrice }) => {
    const line = statement.lines.find((one) => one.planId === planId);
    // A line that the statement lacks has the price of the plan as it was at the end of the month.
    const price = line === undefined ? currentPrice : line.price;
    const late = credits - (line?.credits ?? 0);
    if (late <= 0) return [];
    const amount = usageAmount(credits, price) - (line?.amount ?? 0);
    return [
      { month: statement.period.month, planId, credits: late, currency: price?.currency ?? '', amount },
    ];
  });
}

type ClosedBill = Readonly<{ bill: Bill; lateUsage: readonly LateUsage[] }>;

/** Writes the statement of an ended month, unless there is one. */
async function writeStatement(
  store: Store,
  signer: StatementSigner,
  customer: BilledCustomer,
  month: Month,
  { bill, lateUsage }: ClosedBill,
  nowMs: number,
): Promise<void> {
  const id = `${month.name}-${customer.id}`;
  const statement: StatementJson = {
    id,
    period: {
      month: month.name,
      from: new Date(month.from).toISOString(),
      to: new Date(month.to).toISOString(),
    },
    closedAt: new Date(nowMs).toISOString(),
    ...bill,
    lateUsage,
    totals: totalsOf([...amountsOf(bill), ...lateUsage.filter(({ currency }) => currency !== '')]),
  };
  const body = JSON.stringify(statement);
  const { keyId, publicKey } = signer;
  await transact(store, async (trx) => {
    if ((await findRow(trx, 'statement_key', { id: keyId })) === undefined) {
      const key = { id: keyId, public_key: publicKey, created_at: nowMs };
      await trx
        .insertInto('statement_key')
        .values(key)
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    }
    // Another gateway may have closed the month meanwhile.
    if ((await findStatement(trx, customer.id, month)) !== undefined) return;
    await insertRow(trx, 'billing_statement', {
      ...{ id, customer_id: customer.id, month: month.from, closed_at: nowMs },
      ...{ body, signature: signer.sign(statementText({ body })), key_id: keyId },
    });
  });
}

const CUSTOMERS_PAGE = 200;

/** Statements of a month by customer. @param customerIds - not empty; absent: all customers. */
export async function statementsOf(db: Kysely<Schema>, month: Month, customerIds?: readonly string[]) {
  const rows = await selectRows(db, 'billing_statement', { month: month.from })
    .$if(customerIds !== undefined, (query) => query.where('customer_id', 'in', customerIds ?? []))
    .execute();
  return new Map(rows.map((row) => [row.customer_id, statementOf(row)]));
}

/** Writes a statement for each customer of a page with something to bill. */
async function closePage(
  store: Store,
  signer: StatementSigner,
  month: Month,
  nowMs: number,
  page: readonly BilledCustomer[],
): Promise<void> {
  const ids = page.map(({ id }) => id);
  const before = previousMonth(month);
  const billFor = await readBills(store, month, nowMs, ids);
  const billBefore = await readBills(store, before, nowMs, ids);
  const statements = await statementsOf(store.db, month, ids);
  const previousStatements = await statementsOf(store.db, before, ids);
  for (const customer of page.filter(({ id }) => !statements.has(id))) {
    const bill = billFor(customer);
    const last = previousStatements.get(customer.id);
    const lateUsage = last === undefined ? [] : lateUsageOf(last, billBefore(customer));
    if (bill.monthly !== null || bill.lines.length > 0 || lateUsage.length > 0)
      await writeStatement(store, signer, customer, month, { bill, lateUsage }, nowMs);
  }
}

/**
 * Closes a month for all customers. @param shouldContinue - checked before each page of customers.
 * @returns whether it closed the month for all.
 */
export async function closeMonth(
  store: Store,
  signer: StatementSigner,
  month: Month,
  nowMs: number,
  shouldContinue: () => Promise<boolean>,
): Promise<boolean> {
  const pages = pagesOf<BilledCustomer>(CUSTOMERS_PAGE, (last) =>
    selectRows(store.db, 'customer', {})
      .where('id', '>', last?.id ?? '')
      .where('created_at', '<', month.to)
      .orderBy('id')
      .limit(CUSTOMERS_PAGE)
      .execute(),
  );
  for await (const page of pages) {
    if (!(await shouldContinue())) return false;
    await closePage(store, signer, month, nowMs, page);
  }
  return true;
}
