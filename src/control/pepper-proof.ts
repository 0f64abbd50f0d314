import { createHmac } from 'node:crypto';
import { OperatorError } from '../base/operator-error.ts';
import type { Store } from './database/store.ts';
import { transact } from './database/transaction.ts';
import { notExpired } from './keys/key-quota.ts';
import { createPepper, findPeppers, type PepperSources, type Peppers } from './pepper.ts';
import { missingPepperOfWallets } from './semi-wallets/wallet-rows.ts';

const proofOf = (secret: Buffer): string =>
  createHmac('sha256', secret).update('solway pepper proof').digest('hex');

type Proofs = ReadonlyMap<number, string>;

async function readProofs(store: Store): Promise<Proofs> {
  const rows = await store.db.selectFrom('pepper').select(['version', 'proof']).execute();
  return new Map(rows.map(({ version, proof }) => [version, proof]));
}

const REMEDY =
  'Give every machine that uses this database the same pepper: copy the file "pepper" from the data folder ' +
  'of the first machine, or set SOLWAY_PEPPER.';

/** Throws if a pepper does not match its stored proof: every key would otherwise be rejected without explanation. */
function checkProofs(peppers: Peppers, proofs: Proofs): void {
  for (const [version, proof] of proofs) {
    const secret = peppers.secrets.get(version);
    if (secret !== undefined && proofOf(secret) !== proof) {
      throw new OperatorError(
        `The keys of this database were made with another pepper of version ${version}. ${REMEDY}`,
      );
    }
  }
}

async function checkKeyPeppers(store: Store, peppers: Peppers): Promise<void> {
  const missing = await store.db
    .selectFrom('api_key')
    .select('pepper_version')
    .where(notExpired(Date.now()))
    .where('pepper_version', 'not in', [...peppers.secrets.keys()])
    .limit(1)
    .executeTakeFirst();
  if (missing === undefined) return;
  throw new OperatorError(`Keys of this database need pepper version ${missing.pepper_version}. ${REMEDY}`);
}

/** Throws if the pepper of any wallet is missing, because the wallet could be neither decrypted nor recreated. */
async function checkWalletPeppers(store: Store, peppers: Peppers): Promise<void> {
  const version = await missingPepperOfWallets(store, [...peppers.secrets.keys()]);
  if (version === null) return;
  throw new OperatorError(
    `Semi-custodial wallets of this database need pepper version ${version}. ${REMEDY}`,
  );
}

async function addProofs(store: Store, peppers: Peppers): Promise<void> {
  const rows = [...peppers.secrets].map(([version, secret]) => ({ version, proof: proofOf(secret) }));
  await transact(store, (trx) =>
    trx
      .insertInto('pepper')
      .values(rows)
      .onConflict((conflict) => conflict.column('version').doNothing())
      .execute(),
  );
}

/** Opens or creates the peppers and checks them against the store. @throws OperatorError */
export async function openPeppers(store: Store, sources: PepperSources): Promise<Peppers> {
  // Reads proofs before peppers: a pepper is created before its proof, so every proof read already has a pepper.
  const before = await readProofs(store);
  const found = findPeppers(sources);
  if (found === null && before.size > 0) {
    throw new OperatorError(
      `The keys of this database were made with a pepper that is missing here. ${REMEDY}`,
    );
  }
  const peppers = found ?? createPepper(sources.dataDir);
  checkProofs(peppers, before);
  await checkKeyPeppers(store, peppers);
  await checkWalletPeppers(store, peppers);
  await addProofs(store, peppers);
  // Another machine may have written a proof since the first read.
  checkProofs(peppers, await readProofs(store));
  return peppers;
}
