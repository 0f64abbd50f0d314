import * as spl from '@solana/spl-token';
import { PublicKey, type TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [account, mint, owner, other, third] = [key(1), key(2), key(3), key(4), key(5)];
const signers = [key(6), key(7)];
const multisig = (name: string) => ({ [`multisig${name}`]: text(owner), signers: signers.map(text) });
const [a, m, o] = [text(account), text(mint), text(owner)];
const ui = (amount: string, uiAmount: number) => ({
  amount,
  decimals: 2,
  uiAmount,
  uiAmountString: String(uiAmount),
});

const of2022 = { programId: spl.TOKEN_2022_PROGRAM_ID };
const metadata = { ...of2022, metadata: account, updateAuthority: owner };

/** Client library builder and expected JSON. */
const table: [string, TransactionInstruction, Record<string, unknown>][] = [
  [
    'initializeTransferFeeConfig',
    spl.createInitializeTransferFeeConfigInstruction(mint, owner, null, 50, 900n),
    { mint: m, transferFeeConfigAuthority: o, transferFeeBasisPoints: 50, maximumFee: 900 },
  ],
  [
    'transferCheckedWithFee',
    spl.createTransferCheckedWithFeeInstruction(account, mint, other, owner, 55n, 2, 5n),
    {
      source: a,
      mint: m,
      destination: text(other),
      authority: o,
      tokenAmount: ui('55', 0.55),
      feeAmount: ui('5', 0.05),
    },
  ],
  [
    'withdrawWithheldTokensFromMint',
    spl.createWithdrawWithheldTokensFromMintInstruction(mint, other, owner, signers),
    { mint: m, feeRecipient: text(other), ...multisig('WithdrawWithheldAuthority') },
  ],
  [
    'withdrawWithheldTokensFromAccounts',
    spl.createWithdrawWithheldTokensFromAccountsInstruction(mint, other, owner, [], [account, third]),
    {
      mint: m,
      feeRecipient: text(other),
      withdrawWithheldAuthority: o,
      sourceAccounts: [a, text(third)],
    },
  ],
  [
    'withdrawWithheldTokensFromAccounts',
    spl.createWithdrawWithheldTokensFromAccountsInstruction(mint, other, owner, signers, [account]),
    { mint: m, feeRecipient: text(other), ...multisig('WithdrawWithheldAuthority'), sourceAccounts: [a] },
  ],
  [
    'harvestWithheldTokensToMint',
    spl.createHarvestWithheldTokensToMintInstruction(mint, [account, third]),
    { mint: m, sourceAccounts: [a, text(third)] },
  ],
  [
    'setTransferFee',
    spl.createSetTransferFeeInstruction(mint, owner, signers, 7, 8n),
    { mint: m, ...multisig('transferFeeConfigAuthority'), transferFeeBasisPoints: 7, maximumFee: 8 },
  ],
  [
    'initializeDefaultAccountState',
    spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Frozen),
    { mint: m, accountState: 'frozen' },
  ],
  [
    'updateDefaultAccountState',
    spl.createUpdateDefaultAccountStateInstruction(mint, spl.AccountState.Initialized, owner),
    { mint: m, accountState: 'initialized', freezeAuthority: o },
  ],
  [
    'enableRequiredMemoTransfers',
    spl.createEnableRequiredMemoTransfersInstruction(account, owner),
    { account: a, owner: o },
  ],
  [
    'disableRequiredMemoTransfers',
    spl.createDisableRequiredMemoTransfersInstruction(account, owner, signers),
    { account: a, ...multisig('Owner') },
  ],
  ['enableCpiGuard', spl.createEnableCpiGuardInstruction(account, owner), { account: a, owner: o }],
  ['disableCpiGuard', spl.createDisableCpiGuardInstruction(account, owner), { account: a, owner: o }],
  [
    'initializeInterestBearingConfig',
    spl.createInitializeInterestBearingMintInstruction(mint, owner, -32),
    { mint: m, rateAuthority: o, rate: -32 },
  ],
  [
    'updateInterestBearingConfigRate',
    withoutAccounts(spl.createUpdateRateInterestBearingMintInstruction(mint, owner, 300), 1),
    { mint: m, rateAuthority: o, newRate: 300 },
  ],
  [
    // The library repeats a single authority, which nodes take for a multisig.
    'updateInterestBearingConfigRate',
    spl.createUpdateRateInterestBearingMintInstruction(mint, owner, 300),
    { mint: m, multisigRateAuthority: o, signers: [o], newRate: 300 },
  ],
  [
    'initializeTransferHook',
    spl.createInitializeTransferHookInstruction(mint, owner, other, spl.TOKEN_2022_PROGRAM_ID),
    { mint: m, authority: o, programId: text(other) },
  ],
  [
    'updateTransferHook',
    spl.createUpdateTransferHookInstruction(mint, owner, other),
    { mint: m, authority: o, programId: text(other) },
  ],
  [
    'initializeMetadataPointer',
    spl.createInitializeMetadataPointerInstruction(mint, null, other, spl.TOKEN_2022_PROGRAM_ID),
    { mint: m, metadataAddress: text(other) },
  ],
  [
    'updateGroupPointer',
    spl.createUpdateGroupPointerInstruction(mint, owner, null),
    { mint: m, authority: o },
  ],
  [
    'initializeGroupMemberPointer',
    spl.createInitializeGroupMemberPointerInstruction(mint, owner, other),
    { mint: m, authority: o, memberAddress: text(other) },
  ],
  [
    'initializeScaledUiAmountConfig',
    spl.createInitializeScaledUiAmountConfigInstruction(mint, owner, 1.5),
    { mint: m, authority: o, multiplier: '1.5' },
  ],
  [
    'updateMultiplier',
    spl.createUpdateMultiplierDataInstruction(mint, owner, 2, 77n),
    { mint: m, authority: o, newMultiplier: '2', newMultiplierTimestamp: 77 },
  ],
  [
    'initializePausableConfig',
    spl.createInitializePausableConfigInstruction(mint, null),
    { mint: m, authority: null },
  ],
  ['pause', spl.createPauseInstruction(mint, owner), { mint: m, authority: o }],
  ['resume', spl.createResumeInstruction(mint, owner), { mint: m, authority: o }],
  [
    'initializeTokenMetadata',
    spl.createInitializeInstruction({
      ...of2022,
      metadata: account,
      updateAuthority: owner,
      mint,
      mintAuthority: other,
      name: 'Größe',
      symbol: 'GR',
      uri: '',
    }),
    {
      metadata: a,
      updateAuthority: o,
      mint: m,
      mintAuthority: text(other),
      name: 'Größe',
      symbol: 'GR',
      uri: '',
    },
  ],
  [
    'updateTokenMetadataField',
    spl.createUpdateFieldInstruction({ ...metadata, field: 'colour', value: 'red' }),
    { metadata: a, updateAuthority: o, field: 'colour', value: 'red' },
  ],
  [
    'updateTokenMetadataField',
    spl.createUpdateFieldInstruction({ ...metadata, field: 'uri', value: 'x' }),
    { metadata: a, updateAuthority: o, field: 'uri', value: 'x' },
  ],
  [
    'removeTokenMetadataKey',
    spl.createRemoveKeyInstruction({ ...metadata, key: 'colour', idempotent: true }),
    { metadata: a, updateAuthority: o, key: 'colour', idempotent: true },
  ],
  [
    'updateTokenMetadataAuthority',
    spl.createUpdateAuthorityInstruction({
      ...of2022,
      metadata: account,
      oldAuthority: owner,
      newAuthority: null,
    }),
    { metadata: a, updateAuthority: o, newAuthority: null },
  ],
  [
    'emitTokenMetadata',
    spl.createEmitInstruction({ ...of2022, metadata: account, end: 9n }),
    { metadata: a, end: 9 },
  ],
  [
    'initializeTokenGroup',
    spl.createInitializeGroupInstruction({
      ...of2022,
      group: account,
      mint,
      mintAuthority: other,
      updateAuthority: owner,
      maxSize: 300n,
    }),
    { group: a, mint: m, mintAuthority: text(other), updateAuthority: o, maxSize: 300 },
  ],
  [
    'updateTokenGroupMaxSize',
    spl.createUpdateGroupMaxSizeInstruction({
      ...of2022,
      group: account,
      updateAuthority: owner,
      maxSize: 5n,
    }),
    { group: a, updateAuthority: o, maxSize: 5 },
  ],
  [
    'updateTokenGroupAuthority',
    spl.createUpdateGroupAuthorityInstruction({
      ...of2022,
      group: account,
      currentAuthority: owner,
      newAuthority: other,
    }),
    { group: a, updateAuthority: o, newAuthority: text(other) },
  ],
  [
    'initializeTokenGroupMember',
    spl.createInitializeMemberInstruction({
      ...of2022,
      member: account,
      memberMint: mint,
      memberMintAuthority: owner,
      group: other,
      groupUpdateAuthority: third,
    }),
    {
      member: a,
      memberMint: m,
      memberMintAuthority: o,
      group: text(other),
      groupUpdateAuthority: text(third),
    },
  ],
];

describe('Token-2022 extension instruction', () => {
  it.each(table)('%s matches its row (%#)', (type, instruction, info) => {
    expect(parsedJson(instruction)).toEqual({ type, info });
  });

  it.each(table)('%s is unparsed without its accounts (%#)', (_type, instruction) => {
    expect(parsedJson(withoutAccounts(instruction, instruction.keys.length))).toBeNull();
  });

  it('is unparsed with a wrong data length', () => {
    const update = spl.createUpdateTransferHookInstruction(mint, owner, other);
    expect(parsedJson(withData(update, Buffer.concat([update.data, Buffer.alloc(1)])))).toBeNull();
    expect(parsedJson(withData(update, update.data.subarray(0, -1)))).toBeNull();
    expect(parsedJson(withData(update, update.data.subarray(0, 1)))).toBeNull();
    expect(parsedJson(withData(update, Uint8Array.of(28, 0, 3)))).toBeNull();
  });

  it('is unparsed with fewer fee accounts than stated', () => {
    const withdraw = spl.createWithdrawWithheldTokensFromAccountsInstruction(
      mint,
      other,
      owner,
      [],
      [account],
    );
    expect(parsedJson(withData(withdraw, Uint8Array.of(26, 3, 2)))).toBeNull();
  });
});
