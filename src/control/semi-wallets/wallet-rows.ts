import { Failure } from '../../protocol/errors.ts';
import { countRows, findRow, insertRow, pagesOf, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import type { Store } from '../database/store.ts';
import { nextVersion, writeAudit } from '../database/transaction.ts';
import type { JsonSeal, Sealed } from '../json-seal.ts';
import type { Envelope } from './envelope.ts';

export type WalletName = Readonly<{ ownerId: string; address: string }>;

const PAGE_ROWS = 200;

const columnsOf = ({ sealed, pepper_version }: Sealed) => ({ wrapped: sealed, pepper_version });

const auditEntry = (at: number, action: string, { ownerId, address }: WalletName) =>
  ({ at, actor: `owner:${ownerId}`, action, detail: { owner: ownerId, address } }) as const;

/** @throws Failure WALLETS_FULL */
export async function checkWalletQuota(db: Store['db'], ownerId: string, walletsMax: number): Promise<void> {
  if ((await countRows(db, 'semi_wallet', { owner_id: ownerId })) >= walletsMax)
    throw new Failure('WALLETS_FULL', { facts: { max: walletsMax } });
}

/** @throws Failure WALLETS_FULL */
export async function insertWallet(
  store: Store,
  name: WalletName,
  sealed: Sealed,
  walletsMax: number,
  now: number,
): Promise<void> {
  await store.db.transaction().execute(async (trx) => {
    // Locks the change counter, so that concurrent inserts cannot exceed the quota.
    const version = await nextVersion(trx);
    await checkWalletQuota(trx, name.ownerId, walletsMax);
    await insertRow(trx, 'semi_wallet', {
      owner_id: name.ownerId,
      address: name.address,
      ...columnsOf(sealed),
      created_at: now,
      changed_at: now,
    });
    await writeAudit(trx, version, auditEntry(now, 'semi_wallet.create', name));
  });
}

export async function findWallet(store: Store, { ownerId, address }: WalletName): Promise<Sealed | null> {
  const row = await findRow(store.db, 'semi_wallet', { owner_id: ownerId, address });
  return row === undefined ? null : { sealed: row.wrapped, pepper_version: row.pepper_version };
}

/** Returns false if the stored wallet is no longer `before`. */
export async function replaceWallet(
  store: Store,
  name: WalletName,
  before: Sealed,
  after: Sealed,
  now: number,
): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    const version = await nextVersion(trx);
    const match = { owner_id: name.ownerId, address: name.address, wrapped: before.sealed };
    const values = { ...columnsOf(after), changed_at: now };
    if ((await updateRows(trx, 'semi_wallet', match, values)) === 0) return false;
    await writeAudit(trx, version, auditEntry(now, 'semi_wallet.change_password', name));
    return true;
  });
}

/** Reseals wallets sealed with another pepper; needs no passwords. Undecryptable rows are left for later repair. */
export async function resealWallets({ db }: Store, seal: JsonSeal<Envelope>): Promise<void> {
  const query = selectRows(db, 'semi_wallet', {})
    .where('pepper_version', '!=', seal.current)
    .orderBy('owner_id')
    .orderBy('address')
    .limit(PAGE_ROWS);
  const pages = pagesOf<Schema['semi_wallet']>(PAGE_ROWS, (last) =>
    query
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('owner_id', 'address'), '>', tuple(last?.owner_id ?? '', last?.address ?? '')),
      )
      .execute(),
  );
  for await (const rows of pages) {
    await db.transaction().execute(async (trx) => {
      for (const { owner_id, address, wrapped, pepper_version } of rows) {
        const envelope = seal.open({ sealed: wrapped, pepper_version }, owner_id, address);
        if (envelope === null) continue;
        const resealed = columnsOf(seal.seal(envelope, owner_id, address));
        await updateRows(trx, 'semi_wallet', { owner_id, address, wrapped }, resealed);
      }
    });
  }
}

/** A pepper version that a wallet needs and `versions` lacks; null if there is none. */
export async function missingPepperOfWallets(
  store: Store,
  versions: readonly number[],
): Promise<number | null> {
  const row = await store.db
    .selectFrom('semi_wallet')
    .select('pepper_version')
    .where('pepper_version', 'not in', [...versions])
    .limit(1)
    .executeTakeFirst();
  return row?.pepper_version ?? null;
}
