import { Keypair, SystemProgram } from '@solana/web3.js';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Keypair as Signer } from '../../../src/solana/ed25519.ts';
import { programs } from '../../../src/solana/programs.ts';
import type { Transaction } from '../../../src/solana/transaction/transaction.ts';
import { lamports } from '../../../src/solana/units.ts';
import { decoded } from '../../../test/solana/decoded-transaction.ts';
import { SOL } from './ledger/lab.ts';
import { openPubsubRig, type PubsubRig, type RawClient } from './pubsub-rig.ts';
import { associatedTokenAccount, newMint, signAll } from './signed-transactions.ts';

let rig: PubsubRig;
let client: RawClient;
beforeAll(async () => {
  rig = await openPubsubRig();
});
beforeEach(async () => {
  client = await rig.client();
});
afterEach(() => client.close());
afterAll(() => rig.close());

const processed = { commitment: 'processed' };
const tip = (): number => Number(rig.lab.node.bank('processed').slot);
const signatureOf = (transaction: Transaction): string => transaction.signatures[0] as string;

async function finalize(): Promise<void> {
  for (let i = 0; i < 34; i++) {
    rig.lab.freeze();
    await rig.lab.durable();
  }
}

describe('accountSubscribe', () => {
  it('notifies once per slot with the final account, and not at first', async () => {
    const [from, to] = [rig.lab.wallet(), Keypair.generate().publicKey];
    const id = await client.call('accountSubscribe', [to.toBase58(), { ...processed, encoding: 'base64' }]);
    rig.lab.freeze();
    await client.silence();
    rig.lab.node.submit(rig.lab.transfer(from, to, SOL));
    rig.lab.node.submit(rig.lab.transfer(from, to, 2 * SOL));
    await client.silence();
    rig.lab.freeze();
    expect(await client.received(id)).toEqual({
      context: { slot: tip() },
      value: {
        lamports: 3 * SOL,
        data: ['', 'base64'],
        owner: SystemProgram.programId.toBase58(),
        executable: false,
        rentEpoch: 18446744073709552000,
        space: 0,
      },
    });
    rig.lab.freeze();
    await client.silence();
  });
});

describe('programSubscribe', () => {
  it('notifies only accounts that match the filters', async () => {
    const { node, blockhash } = rig.lab;
    const [payer, mint] = [Signer.generate(), Signer.generate()];
    node.airdrop(payer.address, lamports(BigInt(SOL)));
    const { address, create } = associatedTokenAccount(payer.address, mint.address);
    const made = signAll([payer, mint], [...newMint(payer.address, mint.address, 2), create], blockhash);
    expect(node.submit(decoded(made.wire))).toBeNull();
    const filters = [{ memcmp: { offset: 0, bytes: mint.address } }];
    const config = { ...processed, encoding: 'jsonParsed', filters };
    const id = await client.call('programSubscribe', [programs.token, config]);
    rig.lab.freeze();
    const { value } = await client.received(id);
    expect(value).toMatchObject({
      pubkey: address,
      account: {
        data: { parsed: { info: { mint: mint.address, tokenAmount: { amount: '0', decimals: 2 } } } },
      },
    });
    await client.silence();
  });
});

describe('signatureSubscribe', () => {
  const INVALID_ID = { code: -32602, message: 'Invalid subscription id.' };

  it('notifies once and ends', async () => {
    const transaction = rig.lab.transfer(rig.lab.wallet(), Keypair.generate().publicKey, SOL);
    const id = await client.call('signatureSubscribe', [signatureOf(transaction), processed]);
    rig.lab.node.submit(transaction);
    await client.silence();
    rig.lab.freeze();
    expect(await client.received(id)).toEqual({ context: { slot: tip() }, value: { err: null } });
    rig.lab.freeze();
    await client.silence();
    expect(await client.call('signatureUnsubscribe', [id])).toEqual(INVALID_ID);
    // A repeated call is another subscription.
    const again = await client.call('signatureSubscribe', [signatureOf(transaction), processed]);
    expect(again).toBeGreaterThan(id);
    rig.lab.freeze();
    expect((await client.received(again)).value).toEqual({ err: null });
  });

  it('notifies an earlier transaction in the next slot', async () => {
    const transaction = rig.lab.transfer(rig.lab.wallet(), Keypair.generate().publicKey, SOL);
    rig.lab.node.submit(transaction);
    rig.lab.freeze(3);
    const id = await client.call('signatureSubscribe', [signatureOf(transaction), processed]);
    const confirmed = await client.call('signatureSubscribe', [
      signatureOf(transaction),
      { commitment: 'confirmed' },
    ]);
    await client.silence();
    rig.lab.freeze();
    expect((await client.received(id)).value).toEqual({ err: null });
    expect((await client.received(confirmed)).value).toEqual({ err: null });
    await client.silence();
  });

  it('notifies receipt first on request', async () => {
    const transaction = rig.lab.transfer(rig.lab.wallet(), Keypair.generate().publicKey, SOL);
    const config = { commitment: 'confirmed', enableReceivedNotification: true };
    const id = await client.call('signatureSubscribe', [signatureOf(transaction), config]);
    rig.lab.node.submit(transaction);
    expect(await client.received(id)).toEqual({ context: { slot: tip() + 1 }, value: 'receivedSignature' });
    rig.lab.freeze();
    await client.silence();
    rig.lab.freeze();
    expect((await client.received(id)).value).toEqual({ err: null });
    expect(await client.call('signatureUnsubscribe', [id])).toEqual(INVALID_ID);
  });
});

describe('slot progress', () => {
  it('is notified by slotSubscribe and rootSubscribe', async () => {
    await finalize();
    const [slots, roots] = [await client.call('slotSubscribe'), await client.call('rootSubscribe')];
    const before = tip();
    rig.lab.freeze();
    const first = await client.json();
    const second = await client.json();
    const received = new Map([first, second].map(({ params }) => [params.subscription, params.result]));
    expect(received.get(roots)).toBe(before + 1 - 31);
    expect(received.get(slots)).toEqual({ slot: before + 2, parent: before + 1, root: before + 1 - 31 });
  });
});

describe('blockSubscribe', () => {
  const confirmed = { commitment: 'confirmed', maxSupportedTransactionVersion: 0 };

  it('filters blocks and transactions by mentioned address', async () => {
    const [from, to] = [rig.lab.wallet(), Keypair.generate().publicKey];
    const config = { ...confirmed, transactionDetails: 'signatures' };
    const filter = { mentionsAccountOrProgram: to.toBase58() };
    const id = await client.call('blockSubscribe', [filter, config]);
    const transaction = rig.lab.transfer(from, to, SOL);
    rig.lab.node.submit(rig.lab.transfer(from, Keypair.generate().publicKey, SOL));
    rig.lab.node.submit(transaction);
    rig.lab.freeze(3);
    expect((await client.received(id)).value.block.signatures).toEqual([signatureOf(transaction)]);
    await client.silence();
  });
});

describe('voteSubscribe', () => {
  it("notifies the node's vote for each slot, consistent with its vote account", async () => {
    const id = await client.call('voteSubscribe');
    rig.lab.freeze();
    const slot = tip();
    const { genesis } = rig.lab.node;
    const vote = await client.received(id);
    expect(vote).toEqual({
      votePubkey: genesis.voteAccount,
      slots: Array.from({ length: Math.min(31, slot) }, (_, i) => slot - Math.min(31, slot) + 1 + i),
      hash: rig.lab.node.bank('processed').blockhash,
      timestamp: Number(rig.lab.node.bank('processed').clock.unixTimestamp),
      signature: expect.stringMatching(/^[1-9A-HJ-NP-Za-km-z]{80,88}$/),
    });
    expect(rig.lab.node.history.locate(vote.signature)).toBeNull();
  });
});
