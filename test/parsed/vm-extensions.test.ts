import * as spl from '@solana/spl-token';
import { Keypair, type PublicKey, SystemProgram, Transaction, TransactionInstruction } from '@solana/web3.js';
import { type FailedTransactionMetadata, LiteSvm, type TransactionMetadata } from 'litesvm/dist/internal.js';
import { describe, expect, it } from 'vitest';
import { type JsonValue, parseJson, writeJson } from '../../src/base/json.ts';
import { addressBytes, addressFromBytes } from '../../src/solana/address.ts';
import { mintTokenAmount } from '../../src/solana/encoding/ui-token-amount.ts';
import { parseAccountData } from '../../src/solana/parsed/parse-account.ts';
import { programs, sysvars } from '../../src/solana/programs.ts';
import { decodeClock } from '../../src/solana/sysvars.ts';
import { decodeMintScale, type MintScale } from '../../src/solana/token/extensions.ts';
import { lamports } from '../../src/solana/units.ts';

/** Accounts written by the real Token-2022 program, compared with its client. */
const PROGRAM = spl.TOKEN_2022_PROGRAM_ID;
const SOL = 1_000_000_000n;
const vm = new LiteSvm();
vm.setSigverify(false);
const payer = Keypair.generate();
vm.airdrop(payer.publicKey.toBytes(), 100n * SOL);
const me = payer.publicKey;
const other = Keypair.generate().publicKey;

function run(instructions: readonly TransactionInstruction[], ...signers: Keypair[]): TransactionMetadata {
  const transaction = new Transaction({ feePayer: me, recentBlockhash: vm.latestBlockhash() });
  transaction.add(...instructions).sign(payer, ...signers);
  const wire = Uint8Array.from(transaction.serialize());
  const outcome: TransactionMetadata | FailedTransactionMetadata = vm.sendLegacyTransaction(wire);
  if ('err' in outcome) throw new Error(outcome.meta().toString());
  vm.expireBlockhash();
  return outcome;
}

const dataOf = (key: PublicKey): Buffer => {
  const account = vm.getAccount(key.toBytes());
  if (account === null) throw new Error(`no account ${key}`);
  return Buffer.from(account.data());
};

const info = (data: Buffer) => ({ data, owner: PROGRAM, lamports: 1, executable: false });
const mintOf = (key: PublicKey): spl.Mint => spl.unpackMint(key, info(dataOf(key)), PROGRAM);
const accountOf = (key: PublicKey): spl.Account => spl.unpackAccount(key, info(dataOf(key)), PROGRAM);

type Shown = {
  type: string;
  info: Record<string, JsonValue> & { extensions: { extension: string; state: JsonValue }[] };
};

function shown(key: PublicKey, mint: MintScale | null = null): Shown {
  const data = dataOf(key);
  const account = {
    lamports: lamports(1),
    data,
    owner: programs.token2022,
    executable: false,
    rentEpoch: 0n,
  };
  const parsed = parseAccountData(addressFromBytes(key.toBytes()), account, { mint: () => mint });
  return (parseJson(writeJson(parsed)) as { parsed: Shown }).parsed;
}

const stateOf = ({ info: { extensions } }: Shown, name: string): JsonValue | undefined =>
  extensions.find(({ extension }) => extension === name)?.state;

/** Client output as JSON. */
function asJson(value: unknown): JsonValue {
  const text = JSON.stringify(value, (_name, member) =>
    typeof member === 'bigint' ? Number(member) : member,
  );
  return parseJson(text);
}

const hand = (accounts: readonly PublicKey[], ...data: number[]): TransactionInstruction =>
  new TransactionInstruction({
    programId: PROGRAM,
    keys: accounts.map((pubkey) => ({ pubkey, isSigner: false, isWritable: true })),
    data: Buffer.from(data),
  });

/** Mint with extensions, initialized before the mint. */
function createMint(
  types: readonly spl.ExtensionType[],
  decimals: number,
  initialize: (mint: PublicKey) => TransactionInstruction[],
): PublicKey {
  const mint = Keypair.generate();
  const create = SystemProgram.createAccount({
    fromPubkey: me,
    newAccountPubkey: mint.publicKey,
    space: spl.getMintLen([...types]),
    lamports: Number(SOL),
    programId: PROGRAM,
  });
  const extensions = initialize(mint.publicKey);
  run(
    [create, ...extensions, spl.createInitializeMint2Instruction(mint.publicKey, decimals, me, me, PROGRAM)],
    mint,
  );
  return mint.publicKey;
}

const T = spl.ExtensionType;

const rich = createMint(
  [
    T.TransferFeeConfig,
    T.MintCloseAuthority,
    T.DefaultAccountState,
    T.InterestBearingConfig,
    T.PermanentDelegate,
    T.TransferHook,
    T.MetadataPointer,
    T.GroupPointer,
    T.GroupMemberPointer,
    T.PausableConfig,
  ],
  9,
  (mint) => [
    spl.createInitializeTransferFeeConfigInstruction(mint, me, null, 50, 900n),
    spl.createInitializeMintCloseAuthorityInstruction(mint, other, PROGRAM),
    spl.createInitializeDefaultAccountStateInstruction(mint, spl.AccountState.Initialized),
    spl.createInitializeInterestBearingMintInstruction(mint, me, 500),
    spl.createInitializePermanentDelegateInstruction(mint, other, PROGRAM),
    spl.createInitializeTransferHookInstruction(mint, me, other, PROGRAM),
    spl.createInitializeMetadataPointerInstruction(mint, me, mint, PROGRAM),
    spl.createInitializeGroupPointerInstruction(mint, me, mint),
    spl.createInitializeGroupMemberPointerInstruction(mint, null, mint),
    spl.createInitializePausableConfigInstruction(mint, me),
  ],
);
const described = { programId: PROGRAM, metadata: rich, updateAuthority: me };
run([
  spl.createInitializeInstruction({
    ...described,
    mint: rich,
    mintAuthority: me,
    name: 'Größe',
    symbol: 'GR',
    uri: 'x',
  }),
  spl.createUpdateFieldInstruction({ ...described, field: 'colour', value: 'red' }),
  spl.createInitializeGroupInstruction({
    programId: PROGRAM,
    group: rich,
    mint: rich,
    mintAuthority: me,
    updateAuthority: me,
    maxSize: 3n,
  }),
]);

const scaled = createMint([T.ScaledUiAmountConfig, T.NonTransferable, T.GroupMemberPointer], 6, (mint) => [
  spl.createInitializeScaledUiAmountConfigInstruction(mint, me, 0.99),
  spl.createInitializeNonTransferableMintInstruction(mint, PROGRAM),
  spl.createInitializeGroupMemberPointerInstruction(mint, me, mint),
]);
run([
  spl.createInitializeMemberInstruction({
    programId: PROGRAM,
    member: scaled,
    memberMint: scaled,
    memberMintAuthority: me,
    group: rich,
    groupUpdateAuthority: me,
  }),
]);

const confidential = createMint([T.ConfidentialTransferMint], 2, (mint) => [
  hand([mint], 27, 0, ...me.toBytes(), 1, ...Buffer.alloc(32)),
]);

const holding = spl.getAssociatedTokenAddressSync(rich, me, false, PROGRAM);
run([
  spl.createAssociatedTokenAccountInstruction(me, holding, me, rich, PROGRAM),
  spl.createReallocateInstruction(holding, me, [T.MemoTransfer, T.CpiGuard], me, [], PROGRAM),
  spl.createEnableRequiredMemoTransfersInstruction(holding, me),
  spl.createEnableCpiGuardInstruction(holding, me),
  spl.createMintToInstruction(rich, holding, me, 1_234_567_890n, [], PROGRAM),
]);
const bound = spl.getAssociatedTokenAddressSync(scaled, me, false, PROGRAM);
run([spl.createAssociatedTokenAccountInstruction(me, bound, me, scaled, PROGRAM)]);

describe('mint written by Token-2022', () => {
  it.each([rich, scaled, confidential])('shows its extensions (%#)', (mint) => {
    const types = spl.getExtensionTypes(mintOf(mint).tlvData).map((type) => T[type]);
    const names = shown(mint).info.extensions.map(({ extension }) => extension.toLowerCase());
    expect(names).toEqual(types.map((type) => type?.toLowerCase()));
    expect(names.length).toBeGreaterThan(0);
  });

  it('matches the client', () => {
    const mint = mintOf(rich);
    const read: Record<string, unknown> = {
      mintCloseAuthority: spl.getMintCloseAuthority(mint),
      permanentDelegate: spl.getPermanentDelegate(mint),
      transferHook: spl.getTransferHook(mint),
      metadataPointer: spl.getMetadataPointerState(mint),
      groupPointer: spl.getGroupPointerState(mint),
      groupMemberPointer: spl.getGroupMemberPointerState(mint),
      pausableConfig: spl.getPausableConfig(mint),
      interestBearingConfig: spl.getInterestBearingMintConfigState(mint),
      tokenGroup: spl.getTokenGroupState(mint),
    };
    const parsed = shown(rich);
    for (const [name, state] of Object.entries(read))
      expect([name, stateOf(parsed, name)]).toEqual([name, asJson(state)]);
    expect(stateOf(parsed, 'defaultAccountState')).toEqual({ accountState: 'initialized' });
    const { withdrawWithheldAuthority, ...fees } = asJson(spl.getTransferFeeConfig(mint)) as Record<
      string,
      JsonValue
    >;
    expect(withdrawWithheldAuthority).toBe('11111111111111111111111111111111');
    expect(stateOf(parsed, 'transferFeeConfig')).toEqual({ ...fees, withdrawWithheldAuthority: null });
    expect(stateOf(parsed, 'tokenMetadata')).toEqual({
      updateAuthority: me.toBase58(),
      mint: rich.toBase58(),
      name: 'Größe',
      symbol: 'GR',
      uri: 'x',
      additionalMetadata: [['colour', 'red']],
    });
  });

  it('matches the client for multiplier and group', () => {
    const mint = mintOf(scaled);
    const config = asJson(spl.getScaledUiAmountConfig(mint)) as Record<string, JsonValue>;
    const texts = { multiplier: String(config.multiplier), newMultiplier: String(config.newMultiplier) };
    expect(stateOf(shown(scaled), 'scaledUiAmountConfig')).toEqual({ ...config, ...texts });
    expect(stateOf(shown(scaled), 'tokenGroupMember')).toEqual(asJson(spl.getTokenGroupMemberState(mint)));
    expect(stateOf(shown(confidential), 'confidentialTransferMint')).toEqual({
      authority: me.toBase58(),
      autoApproveNewAccounts: true,
      auditorElgamalPubkey: null,
    });
  });
});

describe('token account written by Token-2022', () => {
  it('shows its extensions', () => {
    const account = accountOf(holding);
    const parsed = shown(holding, { decimals: 9 });
    const types = spl.getExtensionTypes(account.tlvData).map((type) => T[type]?.toLowerCase());
    expect(parsed.info.extensions.map(({ extension }) => extension.toLowerCase())).toEqual(types);
    expect(stateOf(parsed, 'memoTransfer')).toEqual(asJson(spl.getMemoTransfer(account)));
    expect(stateOf(parsed, 'cpiGuard')).toEqual(asJson(spl.getCpiGuard(account)));
    expect(stateOf(parsed, 'transferHookAccount')).toEqual(asJson(spl.getTransferHookAccount(account)));
    expect(stateOf(parsed, 'transferFeeAmount')).toEqual(asJson(spl.getTransferFeeAmount(account)));
    expect(parsed.info).toMatchObject({ mint: rich.toBase58(), owner: me.toBase58(), state: 'initialized' });
    expect(shown(bound, { decimals: 6 }).info.extensions).toEqual([
      { extension: 'immutableOwner' },
      { extension: 'nonTransferableAccount' },
    ]);
  });
});

describe('amount written by Token-2022', () => {
  /** Program output at the VM's clock. */
  function byProgram(mint: PublicKey, amount: bigint): string {
    const outcome = run([spl.createAmountToUiAmountInstruction(mint, amount, PROGRAM)]);
    return Buffer.from(outcome.returnData().data()).toString();
  }

  const now = (): bigint => decodeClock(vm.getAccount(addressBytes(sysvars.clock))!.data())!.unixTimestamp;
  const ours = (mint: PublicKey, amount: bigint): JsonValue =>
    (
      parseJson(writeJson(mintTokenAmount(amount, decodeMintScale(dataOf(mint))!, now()))) as Record<
        string,
        JsonValue
      >
    ).uiAmountString ?? null;

  const YEAR = 31_556_736n;
  const amounts = [0n, 1n, 101n, 1_234_567_890n, 10n ** 15n, 2n ** 64n - 1n];

  it.each(amounts)('matches with interest after 0, 1 and 20 years (%d)', (amount) => {
    const clock = vm.getClock();
    const start = clock.unixTimestamp;
    const readAfter = (years: bigint): [ours: JsonValue, theirs: string] => {
      clock.unixTimestamp = start + years * YEAR;
      vm.setClock(clock);
      return [ours(rich, amount), byProgram(rich, amount)];
    };
    for (const [own, theirs] of [readAfter(0n), readAfter(1n)]) expect(own).toBe(theirs);
    // The program's exp differs from the node's in the last digit of e.
    const [own, theirs] = readAfter(20n);
    expect(Number(own).toPrecision(15)).toBe(Number(theirs).toPrecision(15));
    clock.unixTimestamp = start;
    vm.setClock(clock);
  });

  it.each(amounts)('matches with a multiplier (%d)', (amount) => {
    expect(ours(scaled, amount)).toBe(byProgram(scaled, amount));
  });
});
