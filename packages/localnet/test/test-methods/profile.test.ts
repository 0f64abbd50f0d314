import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Keypair } from '../../../../src/solana/ed25519.ts';
import { programs } from '../../../../src/solana/programs.ts';
import { lamports } from '../../../../src/solana/units.ts';
import { openRig, type Rig } from '../rig.ts';
import { memo, sign, transfer } from '../signed-transactions.ts';
import { key } from '../support/accounts.ts';
import { type Call, callsOn } from './test-rig.ts';

const SOL = 1_000_000_000n;
const TO = key(9);
const payer = Keypair.generate();

let rig: Rig;
let call: Call;
beforeAll(async () => {
  rig = await openRig();
  rig.node.airdrop(payer.address, lamports(10n * SOL));
  rig.freeze(2);
  call = callsOn(rig.node);
});
afterAll(() => rig.close());

const signed = (amount: bigint, signer: Keypair | null = payer) => {
  const instructions = [memo('hello'), transfer(payer.address, TO, amount)];
  return sign(payer, instructions, rig.node.bank('processed').blockhash, signer).base64;
};

describe('surfnet_profileTransaction', () => {
  it('shows units, logs and changes, also by instruction, without effect', async () => {
    const { context, value } = await call('surfnet_profileTransaction', signed(SOL), 'tag', {
      encoding: 'base64',
    });
    const { slot, key: id, transactionProfile: whole, instructionProfiles: parts } = value;
    expect(slot).toBe(context.slot);
    expect(id).toMatch(/^[0-9a-f-]{36}$/);
    expect(whole).toMatchObject({
      errorMessage: null,
      logMessages: expect.arrayContaining([`Program ${programs.system} success`]),
    });
    expect(whole.accountStates[TO]).toMatchObject({
      type: 'writable',
      accountChange: { type: 'create', data: { lamports: Number(SOL) } },
    });
    const [before, after] = whole.accountStates[payer.address].accountChange.data;
    expect(before.lamports - after.lamports).toBe(Number(SOL) + 5_000);
    expect(whole.accountStates[programs.memoV3]).toEqual({ type: 'readonly' });
    expect(value.readonlyAccountStates[programs.memoV3]).toMatchObject({ executable: true });
    expect(parts).toHaveLength(2);
    const units = parts.map((part: { computeUnitsConsumed: number }) => part.computeUnitsConsumed);
    expect(units[0] + units[1]).toBe(whole.computeUnitsConsumed);
    expect(units[1]).toBe(150);
    expect(Object.keys(parts[0].accountStates)).toEqual([programs.memoV3]);
    expect(parts[1].logMessages).toEqual([
      `Program ${programs.system} invoke [1]`,
      `Program ${programs.system} success`,
    ]);
    expect(rig.node.bank('processed').account(TO)).toBe(null);
  });

  it('omits the instructions at depth "transaction"', async () => {
    const { value } = await call('surfnet_profileTransaction', signed(SOL), null, { depth: 'transaction' });
    expect(Object.keys(value)).not.toContain('instructionProfiles');
  });

  it('ends with the instruction that fails, and leaves the accounts unchanged', async () => {
    const { value } = await call('surfnet_profileTransaction', signed(20n * SOL));
    const { transactionProfile, instructionProfiles } = value;
    expect(transactionProfile.errorMessage).toContain('Error processing Instruction 1');
    expect(transactionProfile.accountStates[TO]).toEqual({
      type: 'writable',
      accountChange: { type: 'unchanged', data: null },
    });
    expect(instructionProfiles.map((part: { errorMessage: unknown }) => part.errorMessage !== null)).toEqual([
      false,
      true,
    ]);
  });

  it('rejects an invalid signature', async () => {
    expect(await call('surfnet_profileTransaction', signed(SOL, null))).toMatchObject({ code: -32003 });
  });
});
