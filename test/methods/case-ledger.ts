import { type OpenLocalNode, openLocalNode } from '../../packages/localnet/src/genesis/open.ts';
import { startLocalnetServer } from '../../packages/localnet/src/http/server.ts';
import {
  type Signed,
  sign,
  signVersioned,
  transfer,
} from '../../packages/localnet/test/signed-transactions.ts';
import { key, mint, tokenAccount } from '../../packages/localnet/test/support/accounts.ts';
import { createLogger } from '../../src/base/log.ts';
import type { Address } from '../../src/solana/address.ts';
import { encodeBase58 } from '../../src/solana/base58.ts';
import type { Blockhash } from '../../src/solana/blockhash.ts';
import { Keypair } from '../../src/solana/ed25519.ts';
import type { Signature } from '../../src/solana/signature.ts';
import { decodeTransaction } from '../../src/solana/transaction/decode-transaction.ts';
import type { Transaction } from '../../src/solana/transaction/transaction.ts';
import { lamports } from '../../src/solana/units.ts';
import { eventually } from '../service/eventually.ts';
import { temporaryFolder } from '../service/program.ts';
import type { CaseLedger } from './method-case.ts';

const SOL = 1_000_000_000n;
const SLOTS_PER_EPOCH = 32;
const MINT = key(50);
const TOKENS = key(51);
const DELEGATE = key(52);
const STRANGER = key(53);
const NO_BLOCKHASH = key(56) as string as Blockhash;

/** An embedded ledger with history and an RPC server, which produces no slots. */
export type RunningLedger = Readonly<{ url: string; facts: CaseLedger; close: () => Promise<void> }>;

/** Executes a transaction in its own slot. @returns signature and slot. */
function land(node: OpenLocalNode, wire: Uint8Array): { signature: Signature; slot: bigint } {
  const { transaction } = decodeTransaction(wire) as { transaction: Transaction };
  node.submit(transaction);
  return { signature: transaction.signatures[0] as Signature, slot: node.freeze().slot };
}

const hash = (node: OpenLocalNode): Blockhash => node.bank('processed').blockhash;

async function settle(node: OpenLocalNode, slots: number): Promise<void> {
  for (let i = 0; i < slots; i++) node.freeze();
  await eventually(
    async () =>
      node.bank('finalized').slot === node.bank('processed').slot - 31n &&
      node.history.firstAvailableSlot > SLOTS_PER_EPOCH,
    'the tip is finalized and the first epoch is gone',
  );
}

/** Produces slots until the segment with the first slots is deleted, which happens in the background. */
async function forgetFirstSlots(node: OpenLocalNode): Promise<void> {
  await eventually(
    async () => {
      node.freeze();
      return node.history.firstAvailableSlot > 1n;
    },
    'the first slots are gone',
    { everyMs: 2, timeoutMs: 55_000 },
  );
}

function unsentOf(node: OpenLocalNode, payer: Keypair): CaseLedger['unsent'] {
  const blockhash = node.bank('finalized').blockhash;
  const signed: Signed = sign(payer, [transfer(payer.address, STRANGER, 1n)], blockhash);
  const forged = sign(payer, [transfer(payer.address, STRANGER, 2n)], blockhash, Keypair.generate());
  const stale = sign(payer, [transfer(payer.address, STRANGER, 3n)], NO_BLOCKHASH);
  return {
    transaction: signed.base64,
    message: signed.message,
    forged: forged.base64,
    stale: stale.base64,
  };
}

async function makeHistory(node: OpenLocalNode, payer: Keypair): Promise<CaseLedger> {
  await forgetFirstSlots(node);
  node.airdrop(payer.address, lamports(100n * SOL));
  node.freeze();
  const pay = (amount: bigint): Uint8Array =>
    sign(payer, [transfer(payer.address, STRANGER, amount)], hash(node)).wire;
  const wire = pay(SOL);
  const paid = land(node, wire);
  const failed = land(node, pay(1000n * SOL));
  const versioned = land(
    node,
    signVersioned(payer, [transfer(payer.address, STRANGER, SOL)], hash(node)).wire,
  );
  await settle(node, 40);
  const slotAt = (commitment: 'processed' | 'confirmed' | 'finalized'): bigint => node.bank(commitment).slot;
  return {
    genesis: node.genesis,
    signature: paid.signature,
    slot: paid.slot,
    wire: { base64: Buffer.from(wire).toString('base64'), base58: encodeBase58(wire) },
    failed: failed.signature,
    versioned,
    wallet: payer.address,
    finalized: slotAt('finalized'),
    at: { processed: slotAt('processed'), confirmed: slotAt('confirmed'), finalized: slotAt('finalized') },
    blockhash: node.bank('finalized').blockhash,
    // Old segments are deleted in the background.
    get firstSlot() {
      return node.history.firstAvailableSlot;
    },
    token: { account: TOKENS, mint: MINT, delegate: DELEGATE },
    unsent: unsentOf(node, payer),
  };
}

/** A ledger of several short epochs whose first slots are deleted. */
export async function startCaseLedger(): Promise<RunningLedger> {
  const ledgerDir = temporaryFolder('cases');
  const payer = Keypair.generate();
  const node = await openLocalNode({
    ledgerDir,
    manual: true,
    slotsPerEpoch: SLOTS_PER_EPOCH,
    limits: { segmentSlotsMax: 20, historySlotsMax: 60 },
    accounts: [
      [MINT, mint(150n, 2)],
      [TOKENS, tokenAccount(MINT, payer.address as Address, 150n, DELEGATE)],
    ],
  });
  const server = await startLocalnetServer(node, { port: 0, log: createLogger('silent', () => {}) });
  const close = async (): Promise<void> => {
    await server.close();
    await node.stop();
  };
  return { url: `http://127.0.0.1:${server.port}`, facts: await makeHistory(node, payer), close };
}
