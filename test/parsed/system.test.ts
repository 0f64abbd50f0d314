import { PublicKey, SystemProgram } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { only, parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [from, to, base, owner] = [key(1), key(2), key(3), key(4)];
const blockhashes = 'SysvarRecentB1ockHashes11111111111111111111';
const rent = 'SysvarRent111111111111111111111111111111111';
const nonce = { noncePubkey: to, authorizedPubkey: base };

/** Client library builder and expected JSON. */
const table: [ReturnType<typeof only>, string, Record<string, unknown>][] = [
  [
    SystemProgram.createAccount({
      fromPubkey: from,
      newAccountPubkey: to,
      lamports: 55,
      space: 128,
      programId: owner,
    }),
    'createAccount',
    { source: text(from), newAccount: text(to), lamports: 55, space: 128, owner: text(owner) },
  ],
  [
    only(SystemProgram.assign({ accountPubkey: to, programId: owner })),
    'assign',
    { account: text(to), owner: text(owner) },
  ],
  [
    SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 18446744073709551615n }),
    'transfer',
    { source: text(from), destination: text(to), lamports: 18446744073709551615n },
  ],
  [
    SystemProgram.createAccountWithSeed({
      fromPubkey: from,
      newAccountPubkey: to,
      basePubkey: base,
      seed: 'Samen 🌱',
      lamports: 7,
      space: 9,
      programId: owner,
    }),
    'createAccountWithSeed',
    {
      source: text(from),
      newAccount: text(to),
      base: text(base),
      seed: 'Samen 🌱',
      lamports: 7,
      space: 9,
      owner: text(owner),
    },
  ],
  [
    SystemProgram.nonceAdvance(nonce),
    'advanceNonce',
    { nonceAccount: text(to), recentBlockhashesSysvar: blockhashes, nonceAuthority: text(base) },
  ],
  [
    only(SystemProgram.nonceWithdraw({ ...nonce, toPubkey: from, lamports: 3 })),
    'withdrawFromNonce',
    {
      nonceAccount: text(to),
      destination: text(from),
      recentBlockhashesSysvar: blockhashes,
      rentSysvar: rent,
      nonceAuthority: text(base),
      lamports: 3,
    },
  ],
  [
    SystemProgram.nonceInitialize(nonce),
    'initializeNonce',
    {
      nonceAccount: text(to),
      recentBlockhashesSysvar: blockhashes,
      rentSysvar: rent,
      nonceAuthority: text(base),
    },
  ],
  [
    only(SystemProgram.nonceAuthorize({ ...nonce, newAuthorizedPubkey: owner })),
    'authorizeNonce',
    { nonceAccount: text(to), nonceAuthority: text(base), newAuthorized: text(owner) },
  ],
  [
    only(SystemProgram.allocate({ accountPubkey: to, space: 42 })),
    'allocate',
    { account: text(to), space: 42 },
  ],
  [
    only(
      SystemProgram.allocate({ accountPubkey: to, basePubkey: base, seed: 's', space: 42, programId: owner }),
    ),
    'allocateWithSeed',
    { account: text(to), base: text(base), seed: 's', space: 42, owner: text(owner) },
  ],
  [
    only(SystemProgram.assign({ accountPubkey: to, basePubkey: base, seed: 's', programId: owner })),
    'assignWithSeed',
    { account: text(to), base: text(base), seed: 's', owner: text(owner) },
  ],
  [
    only(
      SystemProgram.transfer({
        fromPubkey: from,
        basePubkey: base,
        toPubkey: to,
        lamports: 5,
        seed: 's',
        programId: owner,
      }),
    ),
    'transferWithSeed',
    {
      source: text(from),
      sourceBase: text(base),
      destination: text(to),
      lamports: 5,
      sourceSeed: 's',
      sourceOwner: text(owner),
    },
  ],
];

describe('system instruction', () => {
  it.each(table)('matches its row (%#)', (instruction, type, info) => {
    expect(parsedJson(only(instruction))).toEqual({ type, info });
  });

  it.each(table)('is unparsed when an account or byte is missing (%#)', (instruction, type) => {
    const { data } = only(instruction);
    // The builder adds the base's signature.
    const spare = type === 'createAccountWithSeed' ? 1 : 0;
    expect(parsedJson(withoutAccounts(only(instruction), 1 + spare))).toBeNull();
    expect(parsedJson(withData(only(instruction), data.subarray(0, data.length - 1)))).toBeNull();
  });

  it('shows an upgraded nonce account', () => {
    const instruction = withoutAccounts(SystemProgram.nonceAdvance(nonce), 2);
    expect(parsedJson(withData(instruction, Uint8Array.of(12, 0, 0, 0)))).toEqual({
      type: 'upgradeNonce',
      info: { nonceAccount: text(to) },
    });
  });

  it('names the payer of a prefunded account only with lamports to pay', () => {
    const created = SystemProgram.createAccount({
      fromPubkey: to,
      newAccountPubkey: from,
      lamports: 0,
      space: 1,
      programId: owner,
    });
    const data = Uint8Array.from(created.data);
    data[0] = 13;
    const info = { newAccount: text(to), space: 1, owner: text(owner) };
    expect(parsedJson(withData(created, data))).toEqual({ type: 'createAccountAllowPrefund', info });
    data[4] = 9;
    expect(parsedJson(withData(created, data))).toEqual({
      type: 'createAccountAllowPrefund',
      info: { ...info, source: text(from), lamports: 9 },
    });
    expect(parsedJson(withoutAccounts(withData(created, data), 1))).toBeNull();
  });

  it('allows trailing bytes, as bincode does', () => {
    const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1 });
    expect(parsedJson(withData(transfer, Buffer.concat([transfer.data, Buffer.alloc(3)])))).not.toBeNull();
  });

  it('is unparsed for an unknown number or an invalid seed', () => {
    const transfer = SystemProgram.transfer({ fromPubkey: from, toPubkey: to, lamports: 1 });
    expect(parsedJson(withData(transfer, Uint8Array.of(99, 0, 0, 0)))).toBeNull();
    const seeded = only(
      SystemProgram.assign({ accountPubkey: to, basePubkey: base, seed: 'x', programId: owner }),
    );
    const data = Uint8Array.from(seeded.data);
    data[4 + 32 + 8] = 0xff;
    expect(parsedJson(withData(seeded, data))).toBeNull();
  });
});
