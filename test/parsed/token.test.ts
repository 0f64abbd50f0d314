import * as spl from '@solana/spl-token';
import { Keypair, PublicKey, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { describe, expect, it } from 'vitest';
import { parsedJson, text, withData, withoutAccounts } from './built.ts';

const key = (n: number): PublicKey => new PublicKey(Buffer.alloc(32, n));
const [account, mint, owner, other, payer] = [key(1), key(2), key(3), key(4), key(5)];
const signers = [key(6), key(7)];
const rentSysvar = 'SysvarRent111111111111111111111111111111111';
const program = spl.TOKEN_2022_PROGRAM_ID;
const names = { account: text(account), mint: text(mint), owner: text(owner) };
const tokenAmount = { amount: '1500', decimals: 3, uiAmount: 1.5, uiAmountString: '1.5' };

const table: [string, TransactionInstruction, Record<string, unknown>][] = [
  [
    'initializeMint',
    spl.createInitializeMintInstruction(mint, 6, owner, null),
    { mint: names.mint, decimals: 6, mintAuthority: names.owner, rentSysvar },
  ],
  [
    'initializeMint2',
    spl.createInitializeMint2Instruction(mint, 6, owner, other),
    { mint: names.mint, decimals: 6, mintAuthority: names.owner, freezeAuthority: text(other) },
  ],
  [
    'initializeAccount2',
    spl.createInitializeAccount2Instruction(account, mint, owner),
    { ...names, rentSysvar },
  ],
  [
    'initializeMultisig',
    spl.createInitializeMultisigInstruction(account, signers, 2),
    { multisig: names.account, rentSysvar, signers: signers.map(text), m: 2 },
  ],
  [
    'burnChecked',
    spl.createBurnCheckedInstruction(account, mint, owner, 1500n, 3),
    { account: names.account, mint: names.mint, authority: names.owner, tokenAmount },
  ],
  [
    'mintToChecked',
    spl.createMintToCheckedInstruction(mint, account, owner, 1500n, 3, signers),
    {
      mint: names.mint,
      account: names.account,
      multisigMintAuthority: names.owner,
      signers: signers.map(text),
      tokenAmount,
    },
  ],
  [
    'approveChecked',
    spl.createApproveCheckedInstruction(account, mint, other, owner, 1500n, 3),
    { source: names.account, mint: names.mint, delegate: text(other), owner: names.owner, tokenAmount },
  ],
  [
    'burn',
    spl.createBurnInstruction(account, mint, owner, 18446744073709551615n),
    {
      account: names.account,
      mint: names.mint,
      authority: names.owner,
      amount: '18446744073709551615',
    },
  ],
  ['syncNative', spl.createSyncNativeInstruction(account), { account: names.account }],
  ['amountToUiAmount', spl.createAmountToUiAmountInstruction(mint, 12n), { mint: names.mint, amount: '12' }],
  [
    'uiAmountToAmount',
    spl.createUiAmountToAmountInstruction(mint, '1.25'),
    { mint: names.mint, uiAmount: '1.25' },
  ],
  [
    'initializeMintCloseAuthority',
    spl.createInitializeMintCloseAuthorityInstruction(mint, null, program),
    { mint: names.mint, newAuthority: null },
  ],
  [
    'createNativeMint',
    spl.createCreateNativeMintInstruction(payer),
    {
      payer: text(payer),
      nativeMint: spl.NATIVE_MINT_2022.toBase58(),
      systemProgram: SystemProgram.programId.toBase58(),
    },
  ],
  [
    'reallocate',
    spl.createReallocateInstruction(account, payer, [spl.ExtensionType.MemoTransfer], owner),
    {
      account: names.account,
      payer: text(payer),
      systemProgram: SystemProgram.programId.toBase58(),
      owner: names.owner,
      extensionTypes: ['memoTransfer'],
    },
  ],
  [
    'initializePermanentDelegate',
    spl.createInitializePermanentDelegateInstruction(mint, other, program),
    { mint: names.mint, delegate: text(other) },
  ],
  [
    'initializeNonTransferableMint',
    spl.createInitializeNonTransferableMintInstruction(mint, program),
    { mint: names.mint },
  ],
];

/** The last accounts are optional. */
const keepsWithoutLast = new Set(['mintToChecked']);

describe('token instruction', () => {
  it.each(table)('%s matches its row', (type, instruction, info) => {
    expect(parsedJson(instruction)).toEqual({ type, info });
  });

  it.each(table.filter(([type]) => !keepsWithoutLast.has(type)))(
    '%s is unparsed when an account is missing',
    (_type, instruction) => {
      expect(parsedJson(withoutAccounts(instruction, instruction.keys.length === 4 ? 2 : 1))).toBeNull();
    },
  );

  it('shows a removed authority as null with its type', () => {
    const set = spl.createSetAuthorityInstruction(account, owner, spl.AuthorityType.CloseAccount, null);
    expect(parsedJson(set)).toEqual({
      type: 'setAuthority',
      info: {
        account: names.account,
        authority: names.owner,
        authorityType: 'closeAccount',
        newAuthority: null,
      },
    });
    expect(parsedJson(withData(set, Uint8Array.of(6, 99, 0)))).toBeNull();
    expect(parsedJson(withData(set, Uint8Array.of(6, 1, 1)))).toBeNull();
  });

  it('parses a batch only as a whole', () => {
    const transfer = [3, 5, 0, 0, 0, 0, 0, 0, 0];
    const batch = new TransactionInstruction({
      programId: spl.TOKEN_PROGRAM_ID,
      keys: [account, other, owner, account].map((pubkey) => ({
        pubkey,
        isSigner: false,
        isWritable: false,
      })),
      data: Buffer.from([255, 3, transfer.length, ...transfer, 1, 1, 17]),
    });
    expect(parsedJson(batch)).toEqual({
      type: 'batch',
      info: {
        instructions: [
          {
            type: 'transfer',
            info: {
              source: names.account,
              destination: text(other),
              authority: names.owner,
              amount: '5',
            },
          },
          { type: 'syncNative', info: { account: names.account } },
        ],
      },
    });
    expect(parsedJson(withoutAccounts(batch, 1))).toBeNull();
    // The first instruction claims two accounts, more than remain.
    expect(parsedJson(withData(withoutAccounts(batch, 3), Uint8Array.of(255, 2, 1, 17)))).toBeNull();
    expect(parsedJson(withData(batch, Uint8Array.of(255, 1, 1, 255)))).toBeNull();
    expect(parsedJson(withData(batch, Uint8Array.of(255, 1, 9, 17)))).toBeNull();
  });

  it('is unparsed without data or with an unknown number', () => {
    const sync = spl.createSyncNativeInstruction(account);
    expect(parsedJson(withData(sync, new Uint8Array()))).toBeNull();
    expect(parsedJson(withData(sync, Uint8Array.of(200)))).toBeNull();
  });
});

describe('associated token account instruction', () => {
  const create = spl.createAssociatedTokenAccountIdempotentInstruction(payer, account, owner, mint);
  const info = {
    source: text(payer),
    account: names.account,
    wallet: names.owner,
    mint: names.mint,
    systemProgram: SystemProgram.programId.toBase58(),
    tokenProgram: spl.TOKEN_PROGRAM_ID.toBase58(),
  };

  it('creates in three forms', () => {
    expect(parsedJson(create)).toEqual({ type: 'createIdempotent', info });
    expect(parsedJson(withData(create, Uint8Array.of(0)))).toEqual({ type: 'create', info });
    expect(parsedJson(withData(create, new Uint8Array()))).toEqual({ type: 'create', info });
  });

  it('recovers nested accounts', () => {
    const wallet = Keypair.fromSeed(new Uint8Array(32).fill(1)).publicKey;
    const recover = spl.createRecoverNestedInstruction(account, mint, other, key(8), key(9), wallet);
    expect(parsedJson(recover)).toEqual({
      type: 'recoverNested',
      info: {
        nestedSource: names.account,
        nestedMint: names.mint,
        destination: text(other),
        nestedOwner: text(key(8)),
        ownerMint: text(key(9)),
        wallet: text(wallet),
        tokenProgram: spl.TOKEN_PROGRAM_ID.toBase58(),
      },
    });
  });

  it('is unparsed with trailing data, as in borsh', () => {
    expect(parsedJson(withData(create, Uint8Array.of(1, 0)))).toBeNull();
    expect(parsedJson(withData(create, Uint8Array.of(3)))).toBeNull();
    expect(parsedJson(withoutAccounts(create, 1))).toBeNull();
  });
});

describe('memo', () => {
  const memo = (data: Uint8Array): TransactionInstruction =>
    new TransactionInstruction({
      programId: new PublicKey('MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr'),
      keys: [],
      data: Buffer.from(data),
    });

  it('is its bare text', () => {
    expect(parsedJson(memo(new TextEncoder().encode('Grüße 🦖')))).toBe('Grüße 🦖');
  });

  it('is unparsed unless UTF-8', () => {
    expect(parsedJson(memo(Uint8Array.of(128)))).toBeNull();
  });
});
