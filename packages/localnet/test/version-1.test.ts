import { afterAll, beforeAll, expect, it } from 'vitest';
import { Keypair } from '../../../src/solana/ed25519.ts';
import { openRig, type Rig } from './rig.ts';
import { memo, type Signed, signVersion1, transfer, unitLimit } from './signed-transactions.ts';

const CONFIG = {
  priorityFee: 777n,
  computeUnitLimit: 200_000,
  loadedAccountsDataSizeLimit: 1_000_000,
  heapSize: null,
};
const VERSION_1 = { commitment: 'confirmed', maxSupportedTransactionVersion: 1 };

let rig: Rig;
const payer = Keypair.generate();
const recipient = Keypair.generate().address;

beforeAll(async () => {
  rig = await openRig();
  await rig.result('requestAirdrop', [payer.address, 1_000_000_000_000n]);
  await rig.finalize();
});
afterAll(() => rig?.close());

const signed = async (config: object, ...instructions: Parameters<typeof signVersion1>[1]): Promise<Signed> =>
  signVersion1(payer, instructions, (await rig.result('getLatestBlockhash', [])).value.blockhash, {
    ...CONFIG,
    ...config,
  });

/** Without preflight, so that a failed one lands too. */
async function landed(sent: Signed) {
  await rig.result('sendTransaction', [sent.base64, { encoding: 'base64', skipPreflight: true }]);
  rig.freeze(2);
  return rig.result('getTransaction', [sent.signature, VERSION_1]);
}

it('executes version 1 with the budget and fee of its configuration', async () => {
  const sent = await signed({}, unitLimit(1), transfer(payer.address, recipient, 1_000_000_000n));
  const result = await landed(sent);
  expect(result.version).toBe(1);
  expect(result.meta).toMatchObject({ err: null, fee: 5_777, computeUnitsConsumed: 300 });
  expect(result.transaction.message.transactionConfig).toEqual({ ...CONFIG, priorityFee: 777 });
  expect(result.transaction.message).not.toHaveProperty('addressTableLookups');
  expect(await rig.result('getFeeForMessage', [sent.message])).toMatchObject({ value: 5_777 });
});

it.each([
  ['compute units', { computeUnitLimit: null }, { InstructionError: [0, 'ComputationalBudgetExceeded'] }],
  ['loaded account data', { loadedAccountsDataSizeLimit: null }, 'MaxLoadedAccountsDataSizeExceeded'],
])('grants no %s unless requested', async (_what, config, err) => {
  const { meta } = await landed(await signed(config, transfer(payer.address, recipient, 1_000_000_000n)));
  expect(meta.err).toEqual(err);
});

it('records neither logs nor more loaded data than requested if only the fee was charged', async () => {
  const config = { loadedAccountsDataSizeLimit: 0 };
  const sent = await signed(config, transfer(payer.address, recipient, 1_000_000_000n));
  const simulation = await rig.result('simulateTransaction', [sent.base64, { encoding: 'base64' }]);
  expect(simulation.value).toMatchObject({ loadedAccountsDataSize: 0, logs: [], innerInstructions: null });
  const { meta } = await landed(sent);
  expect(meta).toMatchObject({ fee: 5_777, logMessages: null, innerInstructions: null, costUnits: 1_323 });
});

it('accepts up to 4,096 bytes', async () => {
  const { meta } = await landed(await signed({ computeUnitLimit: 1_400_000 }, memo('x'.repeat(3_800))));
  expect(meta.err).toBeNull();
});

it('shows version 1 only to clients that support it', async () => {
  const sent = await signed({}, memo('x'));
  await landed(sent);
  for (const config of [{}, { maxSupportedTransactionVersion: 0 }]) {
    expect(
      await rig.error('getTransaction', [sent.signature, { commitment: 'confirmed', ...config }]),
    ).toMatchObject({
      code: -32015,
      message: expect.stringMatching(/^Transaction version \(1\) .*"maxSupportedTransactionVersion": 1$/),
    });
  }
});
