import { AddressLookupTableAccount, PublicKey } from '@solana/web3.js';
import type { JsonValue } from '../../src/base/json.ts';
import type { RpcNode } from '../node.ts';
import { actor, actorAddresses, tokenAccount } from './actors.ts';
import { Names } from './names.ts';
import { type LoadedTable, signStep } from './sign-step.ts';
import { stakingSteps } from './steps/staking.ts';
import type { Step, StepContext } from './steps/step.ts';
import { systemSteps } from './steps/system.ts';
import { token2022Steps } from './steps/token-2022.ts';
import { tokenSteps } from './steps/tokens.ts';

export const script: readonly Step[] = [...systemSteps, ...tokenSteps, ...token2022Steps, ...stakingSteps];

/** A step that landed in a block. */
export type LandedStep = Readonly<{
  name: string;
  signature: string;
  slot: number;
  blockhash: string;
  /** In base64; empty for airdrops. */
  transaction: string;
  err: JsonValue;
}>;

export type ScriptRun = Readonly<{
  names: Names;
  landed: ReadonlyMap<string, LandedStep>;
  /** Steps that the node refused, with its error. */
  refused: ReadonlyMap<string, string>;
}>;

type Members = { readonly [name: string]: JsonValue };
const POLL_MS = 5;
/** A leader may drop a transaction, above all in the first seconds of a ledger. */
const RESEND_MS = 2_000;
const LANDING_TIMEOUT_MS = 60_000;
const NONCE_VALUE = { offset: 40, length: 32 };
const TABLE_HEADER_BYTES = 56;

/** Lets time pass until the ledger may have another slot. */
export type Wait = () => void | Promise<void>;
export const pause: Wait = () => new Promise((resolve) => setTimeout(resolve, POLL_MS));
const valueIn = (result: JsonValue): JsonValue => (result as Members).value as JsonValue;

async function accountData(node: RpcNode, address: string): Promise<Buffer> {
  const config = { encoding: 'base64', commitment: 'confirmed' };
  const account = valueIn(await node.requireResult('getAccountInfo', [address, config])) as Members | null;
  if (account === null) throw new Error(`${address} does not exist on ${node.name}`);
  return Buffer.from(String((account.data as JsonValue[])[0]), 'base64');
}

/** Runs steps one after the other and names what differs from ledger to ledger. */
export class ScriptRunner {
  readonly names = new Names();
  readonly landed = new Map<string, LandedStep>();
  readonly refused = new Map<string, string>();
  readonly #node: RpcNode;
  readonly #tables = new Map<string, string>();
  readonly #wait: Wait;

  constructor(node: RpcNode, wait: Wait = pause) {
    this.#node = node;
    this.#wait = wait;
  }

  /** Runs a step and waits until it is confirmed. @throws Error when it does not land. */
  async run(step: Step): Promise<void> {
    const sent = step.airdrop === undefined ? await this.#send(step) : await this.#airdrop(step.airdrop);
    if ('refused' in sent) {
      this.refused.set(step.name, sent.refused);
      // The next step shall have another blockhash.
      await this.#passSlot();
      return;
    }
    this.names.add('signature', step.name, sent.signature);
    const { slot, err } = await this.#land(step.name, sent.signature, sent.transaction);
    this.names.addSlot(step.name, slot);
    this.landed.set(step.name, { name: step.name, ...sent, slot, err });
    if (step.nonce !== undefined || step.name.includes('nonce')) await this.#nameNonce(step.name);
  }

  async #blockhash(): Promise<string> {
    const config = { commitment: 'confirmed' };
    const value = valueIn(await this.#node.requireResult('getLatestBlockhash', [config])) as Members;
    return String(value.blockhash);
  }

  async #nameNonce(step: string): Promise<void> {
    const data = await accountData(this.#node, actor('nonce').publicKey.toBase58());
    const { offset, length } = NONCE_VALUE;
    const value = new PublicKey(data.subarray(offset, offset + length)).toBase58();
    this.names.add('nonce', step, value);
  }

  async #blockhashOf({ name, nonce }: Step): Promise<string> {
    if (nonce !== undefined) {
      const data = await accountData(this.#node, actor(nonce).publicKey.toBase58());
      return new PublicKey(
        data.subarray(NONCE_VALUE.offset, NONCE_VALUE.offset + NONCE_VALUE.length),
      ).toBase58();
    }
    const blockhash = await this.#blockhash();
    this.names.add('blockhash', name, blockhash);
    return blockhash;
  }

  async #context(): Promise<StepContext> {
    const recentSlot = Number(await this.#node.requireResult('getSlot', [{ commitment: 'confirmed' }]));
    return {
      recentSlot,
      table: (name) => new PublicKey(this.#tables.get(name) ?? PublicKey.default),
      setTable: (name, address) => {
        this.#tables.set(name, address.toBase58());
        this.names.add('address', name, address.toBase58());
      },
    };
  }

  async #passSlot(): Promise<void> {
    const slot = async (): Promise<number> =>
      Number(await this.#node.requireResult('getSlot', [{ commitment: 'confirmed' }]));
    for (const first = await slot(); (await slot()) === first; ) await this.#wait();
  }

  async #lookup(name: string): Promise<LoadedTable> {
    const address = this.#tables.get(name) ?? '';
    // Addresses that were added in a slot can be used in the next one.
    await this.#passSlot();
    const data = await accountData(this.#node, address);
    const { addresses } = AddressLookupTableAccount.deserialize(data);
    if (data.length <= TABLE_HEADER_BYTES) throw new Error(`lookup table ${name} is empty`);
    return { address, addresses: addresses.map((entry) => entry.toBase58()) };
  }

  async #send(step: Step): Promise<Sent> {
    const instructions = step.instructions(await this.#context());
    const blockhash = await this.#blockhashOf(step);
    const { signature, wire } = signStep({
      ...{ signers: step.signers, instructions, blockhash, version: step.version ?? 'legacy' },
      lookup: step.lookup === undefined ? undefined : await this.#lookup(step.lookup),
    });
    const transaction = Buffer.from(wire).toString('base64');
    const refused = await this.#submit(transaction);
    return refused === null ? { signature, blockhash, transaction } : { refused };
  }

  async #submit(transaction: string): Promise<string | null> {
    const config = { encoding: 'base64', skipPreflight: true };
    const reply = await this.#node.request('sendTransaction', [transaction, config]);
    if (reply.kind === 'failure') throw new Error(`sendTransaction failed: ${reply.reason}`);
    return reply.kind === 'error' ? reply.error.message : null;
  }

  async #airdrop({ to, lamports }: NonNullable<Step['airdrop']>): Promise<Sent> {
    const address = actor(to).publicKey.toBase58();
    const signature = String(await this.#node.requireResult('requestAirdrop', [address, lamports]));
    await this.#nameFaucet(signature);
    return { signature, blockhash: '', transaction: '' };
  }

  /** The faucet pays for airdrops. */
  async #nameFaucet(signature: string): Promise<void> {
    if (this.names.addressOf('faucet') !== undefined) return;
    await this.#land('airdrop', signature, '');
    const config = { encoding: 'jsonParsed', commitment: 'confirmed' };
    const result = await this.#node.requireResult('getTransaction', [signature, config]);
    const { message } = (result as Members).transaction as Members;
    const [payer] = (message as Members).accountKeys as readonly Members[];
    this.names.add('address', 'faucet', String(payer?.pubkey));
  }

  async #land(
    name: string,
    signature: string,
    transaction: string,
  ): Promise<{ slot: number; err: JsonValue }> {
    const started = Date.now();
    for (let sentAt = started; Date.now() - started < LANDING_TIMEOUT_MS; await this.#wait()) {
      const [status] = valueIn(
        await this.#node.requireResult('getSignatureStatuses', [[signature]]),
      ) as JsonValue[];
      const { slot, err, confirmationStatus } = (status ?? {}) as Members;
      if (confirmationStatus === 'confirmed' || confirmationStatus === 'finalized')
        return { slot: Number(slot), err: err ?? null };
      if (transaction === '' || Date.now() - sentAt < RESEND_MS) continue;
      sentAt = Date.now();
      await this.#submit(transaction);
    }
    throw new Error(`"${name}" did not land on ${this.#node.name}`);
  }
}

type Sent = { refused: string } | { signature: string; blockhash: string; transaction: string };

/** Names addresses of the ledger that are random: its identity, its accounts and its genesis hash. */
export async function nameLedger(node: RpcNode, names: Names): Promise<void> {
  const { identity } = (await node.requireResult('getIdentity', [])) as Members;
  names.add('address', 'identity', String(identity));
  names.add('hash', 'genesis', String(await node.requireResult('getGenesisHash', [])));
  const votes = (await node.requireResult('getVoteAccounts', [{ commitment: 'processed' }])) as Members;
  const [validator] = [votes.current, votes.delinquent].flat() as readonly Members[];
  if (validator !== undefined) names.add('address', 'validator vote', String(validator.votePubkey));
  const stakeConfig = { encoding: 'base64', commitment: 'processed', dataSlice: { offset: 0, length: 0 } };
  const stakes = (await node.requireResult('getProgramAccounts', [
    'Stake11111111111111111111111111111111111111',
    stakeConfig,
  ])) as readonly Members[];
  for (const { pubkey } of stakes) names.add('address', 'validator stake', String(pubkey));
}

/**
 * Runs the script on a fresh ledger.
 * @param onStep - called before each step.
 * @param wait - a ledger without a clock of its own produces a slot instead.
 * @throws Error when a step does not land, or ends otherwise than the script says.
 */
export async function runScript(
  node: RpcNode,
  onStep: (step: Step, done: number) => void | Promise<void> = () => {},
  wait: Wait = pause,
): Promise<ScriptRun> {
  const runner = new ScriptRunner(node, wait);
  tokenAccount('alice', 'mint');
  await nameLedger(node, runner.names);
  for (const [name, address] of actorAddresses()) runner.names.add('actor', name, address);
  for (const [done, step] of script.entries()) {
    await onStep(step, done);
    await runner.run(step);
  }
  return runner;
}

/** Steps that did not end as the script says. */
export function unexpectedEnds({ landed }: ScriptRun): string[] {
  return script.flatMap(({ name, fails = false }) => {
    const step = landed.get(name);
    if (step === undefined || (step.err !== null) === fails) return [];
    return [
      `${name}: ${JSON.stringify(step.err, (_, value) => (typeof value === 'bigint' ? `${value}` : value))}`,
    ];
  });
}
