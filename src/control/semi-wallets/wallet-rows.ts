import { Failure } from '../../protocol/errors.ts';
import type { Store } from '../database/open.ts';
import { countRows, findRow, insertRow, pagesOf, selectRows, updateRows } from '../database/rows.ts';
import type { Schema } from '../database/schema.ts';
import { nextVersion, writeAudit } from '../database/transaction.ts';
import type { Wrapped } from './wrap.ts';

export type WalletName = Readonly<{ ownerId: string; address: string }>;

const auditEntry = (at: number, action: string, { ownerId, address }: WalletName) =>
  ({ at, actor: `owner:${ownerId}`, action, detail: { owner: ownerId, address } }) as const;

/** @throws Failure WALLETS_FULL */
export async function checkWalletQuota(db: Store['db'], ownerId: string, walletsMax: number): Promise<void> {
  if ((await countRows(db, 'semi_wallet', { owner_id: ownerId })) >= walletsMax)
    throw new Failure('WALLETS_FULL', { facts: { max: walletsMax } });
}

/**
 * Durable when it returns.
 * @throws Failure WALLETS_FULL
 */
export async function insertWallet(
  store: Store,
  name: WalletName,
  wrapped: Wrapped,
  walletsMax: number,
  now: number,
): Promise<void> {
  await store.db.transaction().execute(async (trx) => {
    // Locks the change counter, so that concurrent inserts see each other.
    const version = await nextVersion(trx);
    await checkWalletQuota(trx, name.ownerId, walletsMax);
    await insertRow(trx, 'semi_wallet', {
      owner_id: name.ownerId,
      address: name.address,
      pepper_version: wrapped.version,
      wrapped: wrapped.text,
      created_at: now,
      changed_at: now,
    });
    await writeAudit(trx, version, auditEntry(now, 'semi_wallet.create', name));
  });
}

export async function findWallet(store: Store, { ownerId, address }: WalletName): Promise<Wrapped | null> {
  const row = await findRow(store.db, 'semi_wallet', { owner_id: ownerId, address });
  return row === undefined ? null : { version: row.pepper_version, text: row.wrapped };
}

/**
 * Compare-and-swap.
 * @returns false if the stored wallet has changed.
 */
export async function replaceWallet(
  store: Store,
  name: WalletName,
  before: Wrapped,
  after: Wrapped,
  now: number,
): Promise<boolean> {
  return store.db.transaction().execute(async (trx) => {
    const version = await nextVersion(trx);
    const match = { owner_id: name.ownerId, address: name.address, wrapped: before.text };
    const values = { pepper_version: after.version, wrapped: after.text, changed_at: now };
    if ((await updateRows(trx, 'semi_wallet', match, values)) === 0) return false;
    await writeAudit(trx, version, auditEntry(now, 'semi_wallet.change_password', name));
    return true;
  });
}

/** Pages of wallets under other peppers, by owner and address. */
export async function* walletsUnderOther(
  store: Store,
  version: number,
  pageRows: number,
): AsyncGenerator<Readonly<WalletName & { wrapped: Wrapped }>[]> {
  const query = selectRows(store.db, 'semi_wallet', {})
    .where('pepper_version', '!=', version)
    .orderBy('owner_id')
    .orderBy('address')
    .limit(pageRows);
  const pages = pagesOf<Schema['semi_wallet']>(pageRows, (last) =>
    query
      .where(({ eb, refTuple, tuple }) =>
        eb(refTuple('owner_id', 'address'), '>', tuple(last?.owner_id ?? '', last?.address ?? '')),
      )
      .execute(),
  );
  for await (const rows of pages) {
    yield rows.map(({ owner_id, address, pepper_version, wrapped }) => ({
      ownerId: owner_id,
      address,
      wrapped: { version: pepper_version, text: wrapped },
    }));
  }
}

/** Replaces rewrapped rows unless they have changed meanwhile. */
export async function rewrapWallets(
  store: Store,
  wallets: readonly Readonly<WalletName & { before: Wrapped; after: Wrapped }>[],
): Promise<void> {
  await store.db.transaction().execute(async (trx) => {
    for (const { ownerId, address, before, after } of wallets) {
      const match = { owner_id: ownerId, address, wrapped: before.text };
      await updateRows(trx, 'semi_wallet', match, { pepper_version: after.version, wrapped: after.text });
    }
  });
}

/** A pepper version that some wallet needs and that is missing; null if none. */
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
