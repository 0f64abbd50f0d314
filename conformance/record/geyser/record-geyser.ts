import { setTimeout as pause } from 'node:timers/promises';
import { encodeBase58 as base58, decodeBase58 } from '../../../src/solana/base58.ts';
import { type LandedStep, type ScriptRun, script } from '../run-script.ts';
import { GeyserClient, type Message, type RecordedStream, type UnaryMethod } from './client.ts';
import { liveSubscriptions, type RecordedSubscription, refusedSubscriptions } from './streams.ts';
import { describeUpdates, normalizeMessage, type RecordedUpdate } from './updates.ts';

/** What a stream received, or the response of a unary call. */
export type GeyserRow = Readonly<{ name: string; status: string | null; updates: readonly RecordedUpdate[] }>;

type OpenSubscription = Readonly<{ name: string; stream: RecordedStream }>;

/** Steps at the end of the script that are replayed; nodes store few slots. */
const REPLAYED_STEPS = 5;
const WAIT_MS = 60_000;
const POLL_MS = 20;
/** The last refusal comes within this time of the others. */
const REFUSAL_MS = 500;

async function until(what: string, isTrue: () => boolean): Promise<void> {
  for (const end = Date.now() + WAIT_MS; !isTrue(); await pause(POLL_MS)) {
    if (Date.now() > end) throw new Error(`${what}: not within ${WAIT_MS / 1_000} s`);
  }
}

const SLOT_NUMBER = /\b\d{1,19}\b/g;

/** Slots in messages of statuses. */
const normalizeStatus = (status: string): string =>
  status.replace(SLOT_NUMBER, (digits, at: number) => (at === 0 ? digits : '<number>'));

const unaryCalls: readonly (readonly [name: string, UnaryMethod, Message])[] = [
  ['Ping', 'Ping', { count: 7 }],
  ['Ping: negative', 'Ping', { count: -1 }],
  ['GetVersion', 'GetVersion', {}],
  ['SubscribeReplayInfo', 'SubscribeReplayInfo', {}],
  ...(['GetSlot', 'GetBlockHeight', 'GetLatestBlockhash'] as const).flatMap((method) =>
    [undefined, 'PROCESSED', 'CONFIRMED', 'FINALIZED', 7].map(
      (commitment) => [`${method}: ${commitment ?? 'default'}`, method, { commitment }] as const,
    ),
  ),
  ['IsBlockhashValid: no hash', 'IsBlockhashValid', { blockhash: 'not a hash' }],
  ['IsBlockhashValid: empty', 'IsBlockhashValid', { blockhash: '' }],
  ['IsBlockhashValid: unknown', 'IsBlockhashValid', { blockhash: '1'.repeat(32) }],
  ['IsBlockhashValid: unknown commitment', 'IsBlockhashValid', { blockhash: '1'.repeat(32), commitment: 7 }],
];

/** The version is JSON: its member names are recorded, not the values. */
function describeResponse(method: UnaryMethod, response: Message, run: ScriptRun): string {
  if (method !== 'GetVersion') return JSON.stringify(normalizeMessage(response, run.names));
  const { version, ...rest } = JSON.parse(String(response.version)) as Record<string, object>;
  return JSON.stringify({
    version: Object.keys(version ?? {}).sort(),
    ...Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, Object.keys(value)])),
  });
}

/** Records Yellowstone streams: open before the script runs, finish after it. */
export class GeyserRecorder {
  readonly #client: GeyserClient;
  readonly #live: OpenSubscription[];

  /** @param address - host and port of the gRPC server. */
  private constructor(client: GeyserClient, live: OpenSubscription[]) {
    this.#client = client;
    this.#live = live;
  }

  /** Opens all streams. */
  static async open(address: string, token: string | null = null): Promise<GeyserRecorder> {
    const client = new GeyserClient(address, token);
    const live = liveSubscriptions.map(({ name, requests }) => ({ name, stream: client.open(requests) }));
    await Promise.all(live.map(({ stream }) => stream.opened));
    return new GeyserRecorder(client, live);
  }

  /** Ends the streams after the last step is finalized, then records what needs no open stream. */
  async finish(run: ScriptRun): Promise<GeyserRow[]> {
    const last = Math.max(...[...run.landed.values()].map(({ slot }) => slot));
    const statuses = this.#live.find(({ name }) => name === 'slots, finalized: by commitment');
    await until('the last step finalized', () =>
      (statuses?.stream.updates ?? []).some(
        ({ slot }) => Number((slot as Message | undefined)?.slot) >= last,
      ),
    );
    await Promise.all(this.#live.map(({ stream }) => stream.flush()));
    this.#nameFaucet(run);
    const live = this.#live.map((subscription) => this.#end(subscription, run));
    const replayed = await this.#replayed(run);
    const refused = await this.#refused(run);
    const unary = await this.#unary(run);
    this.#client.close();
    return [...live, ...refused, ...replayed, ...unary];
  }

  /** The faucet pays airdrops. */
  #nameFaucet({ names }: ScriptRun): void {
    for (const { stream } of this.#live)
      for (const update of stream.updates) {
        const info = (update.transaction as Message | undefined)?.transaction as Message | undefined;
        if (
          info === undefined ||
          names.replaceIn(base58(info.signature as Buffer)) !== '<signature:airdrop payer>'
        )
          continue;
        const { message } = info.transaction as { message: { account_keys: readonly Buffer[] } };
        names.add('address', 'faucet', base58(message.account_keys[0] as Buffer));
        return;
      }
  }

  #end({ name, stream }: OpenSubscription, { names }: ScriptRun): GeyserRow {
    stream.close();
    const { updates, status } = stream;
    return {
      name,
      status: status === null ? null : normalizeStatus(status),
      updates: describeUpdates(updates, names),
    };
  }

  async #refused(run: ScriptRun): Promise<GeyserRow[]> {
    const open = refusedSubscriptions.map(({ name, requests }) => ({
      name,
      stream: this.#client.open(requests),
    }));
    // One waits for a slot that is far away.
    await until('refusals', () => open.filter(({ stream }) => stream.status === null).length <= 1);
    await pause(REFUSAL_MS);
    return open.map((subscription) => this.#end(subscription, run));
  }

  async #replayed(run: ScriptRun): Promise<GeyserRow[]> {
    const landed = script.flatMap(({ name }) => run.landed.get(name) ?? []);
    const [first, last] = [landed.at(-REPLAYED_STEPS), landed.at(-1)] as [LandedStep, LandedStep];
    const ofScript = { t: { vote: false } };
    const subscriptions: readonly RecordedSubscription[] = [
      ...['PROCESSED', 'CONFIRMED', 'FINALIZED'].map((commitment) => ({
        name: `replay of transactions, ${commitment.toLowerCase()}`,
        requests: [{ transactions: ofScript, commitment, from_slot: first.slot }],
      })),
      {
        name: 'replay of one signature',
        requests: [{ transactions: { t: { signature: last.signature } }, from_slot: first.slot }],
      },
      {
        name: 'replay of statuses',
        requests: [{ transactions_status: ofScript, commitment: 'CONFIRMED', from_slot: first.slot }],
      },
    ];
    const open = subscriptions.map(({ name, requests }) => ({ name, stream: this.#client.open(requests) }));
    const wanted = decodeBase58(last.signature) ?? new Uint8Array();
    const hasLast = ({ stream }: OpenSubscription): boolean =>
      stream.status !== null ||
      stream.updates.some(({ transaction, transaction_status }) => {
        const info = ((transaction as Message | undefined)?.transaction ?? transaction_status) as Message;
        return Buffer.isBuffer(info?.signature) && info.signature.equals(wanted);
      });
    await until('the replay', () => open.every(hasLast));
    return open.map((subscription) => this.#end(subscription, run));
  }

  async #unary(run: ScriptRun): Promise<GeyserRow[]> {
    const rows: GeyserRow[] = [];
    for (const [name, method, request] of unaryCalls) {
      const response = await this.#client.call(method, request);
      const isStatus = typeof response === 'string';
      rows.push({
        name,
        status: isStatus ? normalizeStatus(response) : null,
        updates: isStatus ? [] : [{ filters: '', content: describeResponse(method, response, run) }],
      });
    }
    return rows;
  }
}
