import { createHmac } from 'node:crypto';
import type { Store } from './database/open.ts';
import { notExpired } from './keys/key-quota.ts';
import { createPepper, findPeppers, PepperError, type PepperSources, type Peppers } from './pepper.ts';
import { missingPepperOfWallets } from './semi-wallets/wallet-rows.ts';

const PROVEN_TEXT = 'solway pepper proof';

function proofOf(secret: Buffer): string {
  return createHmac('sha256', secret).update(PROVEN_TEXT).digest('hex');
}

type Proofs = ReadonlyMap<number, string>;

async function readProofs(store: Store): Promise<Proofs> {
  const rows = await store.db.selectFrom('pepper').select(['version', 'proof']).execute();
  return new Map(rows.map(({ version, proof }) => [version, proof]));
}

const REMEDY =
  'give every machine that uses this database the same pepper: copy the file "pepper" from the data folder ' +
  'of the first one, or set SOLWAY_PEPPER';

/** A pepper that differs from the one the digests were made with would quietly reject every key. */
function checkProofs(peppers: Peppers, proofs: Proofs): void {
  for (const [version, proof] of proofs) {
    const secret = peppers.secrets.get(version);
    if (secret !== undefined && proofOf(secret) !== proof) {
      throw new PepperError(
        `pepper version ${version} is not the one the keys of this database were made with: ${REMEDY}`,
      );
    }
  }
}

/** An old version may go once no key needs it any more. */
async function checkKeysNeed(store: Store, peppers: Peppers): Promise<void> {
  const missing = await store.db
    .selectFrom('api_key')
    .select('pepper_version')
    .where(notExpired(Date.now()))
    .where('pepper_version', 'not in', [...peppers.secrets.keys()])
    .limit(1)
    .executeTakeFirst();
  if (missing === undefined) return;
  throw new PepperError(`keys of this database need pepper version ${missing.pepper_version}: ${REMEDY}`);
}

/** Without its pepper a wallet is lost, not only to be made again. */
async function checkWalletsNeed(store: Store, peppers: Peppers): Promise<void> {
  const version = await missingPepperOfWallets(store, [...peppers.secrets.keys()]);
  if (version === null) return;
  throw new PepperError(`semi-custodial wallets of this database need pepper version ${version}: ${REMEDY}`);
}

async function addProofs(store: Store, peppers: Peppers): Promise<void> {
  const rows = [...peppers.secrets].map(([version, secret]) => ({ version, proof: proofOf(secret) }));
  await store.db.transaction().execute((trx) =>
    trx
      .insertInto('pepper')
      .values(rows)
      .onConflict((conflict) => conflict.column('version').doNothing())
      .execute(),
  );
}

/**
 * The peppers of this installation, made at the first start and checked against the store at each one.
 * @throws PepperError when the store's keys need a pepper that is not here.
 */
export async function openPeppers(store: Store, sources: PepperSources): Promise<Peppers> {
  // In this order: a proof is written after its pepper, so a pepper whose proof is there can be found by then.
  const before = await readProofs(store);
  const found = findPeppers(sources);
  if (found === null && before.size > 0) {
    throw new PepperError(`the keys of this database were made with a pepper that is not here: ${REMEDY}`);
  }
  const peppers = found ?? createPepper(sources.dataDir);
  checkProofs(peppers, before);
  await checkKeysNeed(store, peppers);
  await checkWalletsNeed(store, peppers);
  await addProofs(store, peppers);
  // Another machine may have been first between the two looks.
  checkProofs(peppers, await readProofs(store));
  return peppers;
}
