import { createAssociatedTokenAccountInstruction, createTransferInstruction } from '@solana/spl-token';
import { ComputeBudgetProgram, SystemProgram, TransactionInstruction } from '@solana/web3.js';
import { key, tokenAccount } from './actors.ts';
import { type SignedStep, signStep, type Unsigned } from './sign-step.ts';
import { memo } from './steps/system.ts';

/** All are paid by an account that no step of the script uses, so that nothing else depends on them. */
const PAYER = 'sender';

/** Enough for the receiver to be rent-exempt. */
const AMOUNT = 1_000_000;
const SENDER_LAMPORTS = 10_000_000_000;
const FEE = 5_000;

const pay = (lamports: number, from = PAYER): TransactionInstruction =>
  SystemProgram.transfer({ fromPubkey: key(from), toPubkey: key('receiver'), lamports });

const moveTokens = (amount: number): TransactionInstruction =>
  createTransferInstruction(tokenAccount('alice', 'mint'), tokenAccount('bob', 'mint'), key('alice'), amount);

const bare = (
  program: TransactionInstruction['programId'],
  data: readonly number[],
): TransactionInstruction =>
  new TransactionInstruction({ programId: program, keys: [], data: Buffer.from(data) });

type Plan = Readonly<{
  instructions: readonly TransactionInstruction[];
  options?: Partial<Unsigned>;
  /** Changes the transaction after it was signed. */
  alter?: (wire: Uint8Array) => Uint8Array;
}>;

const plan = (
  instructions: readonly TransactionInstruction[],
  options: Partial<Unsigned> = {},
  alter?: Plan['alter'],
): Plan => ({ instructions, options, ...(alter === undefined ? {} : { alter }) });

const SIGNATURE_END = 1 + 64;
const KEYS_START = SIGNATURE_END + 4;

/** Repeats the second account key in place of the third. */
function withRepeatedKey(wire: Uint8Array): Uint8Array {
  const copy = Uint8Array.from(wire);
  copy.copyWithin(KEYS_START + 64, KEYS_START + 32, KEYS_START + 64);
  return copy;
}

const forged = (wire: Uint8Array): Uint8Array => wire.map((byte, at) => (at === 10 ? byte ^ 1 : byte));
const unsigned = (wire: Uint8Array): Uint8Array =>
  wire.map((byte, at) => (at > 0 && at < SIGNATURE_END ? 0 : byte));
const withTail = (wire: Uint8Array): Uint8Array => Uint8Array.from([...wire, 0]);

const sent: readonly string[] = [
  ...['1', '2', '3', '4', '5', '6', '7', 'processed', 'confirmed', 'finalized'].map((name) => `sent ${name}`),
];

const plans: Readonly<Record<string, Plan>> = {
  transfer: plan([pay(AMOUNT)]),
  'transfer v0': plan([pay(AMOUNT + 1)], { version: 0 }),
  'transfer v1': plan([pay(AMOUNT + 2)], { version: 1 }),
  insufficient: plan([pay(2 * SENDER_LAMPORTS)]),
  'no payer': plan([pay(AMOUNT, 'absent')], { signers: ['absent'] }),
  stale: plan([pay(AMOUNT + 3)], { blockhash: key('absent').toBase58() }),
  forged: plan([pay(AMOUNT + 4)], {}, forged),
  unsigned: plan([pay(AMOUNT + 5)], {}, unsigned),
  'two signers': plan([pay(AMOUNT + 6), pay(1, 'alice')], { signers: [PAYER, 'alice'] }),
  'missing signer': plan([pay(AMOUNT + 7), pay(1, 'alice')]),
  'duplicate budget': plan([
    ComputeBudgetProgram.setComputeUnitLimit({ units: 1 }),
    ComputeBudgetProgram.setComputeUnitLimit({ units: 2 }),
  ]),
  'wrong budget': plan([pay(AMOUNT + 8), bare(ComputeBudgetProgram.programId, [9])]),
  priority: plan([
    ...[
      ComputeBudgetProgram.setComputeUnitLimit({ units: 1_000 }),
      ComputeBudgetProgram.setComputeUnitPrice({ microLamports: 2_000_000 }),
    ],
    pay(AMOUNT + 9),
  ]),
  tokens: plan([moveTokens(7)], { signers: [PAYER, 'alice'] }),
  'too many tokens': plan([moveTokens(10_000_000)], { signers: [PAYER, 'alice'] }),
  memo: plan([memo('hello', PAYER)]),
  'unknown table': plan([pay(AMOUNT + 10)], {
    ...{ version: 0, lookup: { address: key('absent').toBase58(), addresses: [key('receiver').toBase58()] } },
  }),
  'no instructions': plan([]),
  'account twice': plan([pay(AMOUNT + 11)], {}, withRepeatedKey),
  'trailing bytes': plan([pay(AMOUNT + 12)], {}, withTail),
  rent: plan([pay(SENDER_LAMPORTS - FEE - 100)]),
  'no program': plan([bare(key('absent'), [1])]),
  'associated account': plan([
    createAssociatedTokenAccountInstruction(
      key(PAYER),
      tokenAccount('receiver', 'mint'),
      key('receiver'),
      key('mint'),
    ),
  ]),
  ...Object.fromEntries(sent.map((name, index) => [name, plan([pay(AMOUNT + 100 + index)])])),
};

export const unsentNames: readonly string[] = Object.keys(plans);

/** A signed transaction that was not sent yet. */
export function signUnsent(name: string, blockhash: string): SignedStep {
  const { instructions, options, alter = (wire) => wire } = plans[name] ?? plan([]);
  const signed = signStep({ signers: [PAYER], version: 'legacy', instructions, blockhash, ...options });
  return { ...signed, wire: alter(signed.wire) };
}
