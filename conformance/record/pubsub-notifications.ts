import { RpcNode } from '../node.ts';
import { actorAddresses } from './actors.ts';
import { Normalizer } from './normalize.ts';
import { call } from './pubsub-cases.ts';
import type { PubsubNode } from './pubsub-exchange.ts';
import type { PubsubRecording } from './pubsub-recording.ts';
import { RawSocket, textFrame } from './pubsub-socket.ts';
import {
  notifyingSteps,
  paramsOf,
  type RecordedSubscription,
  recordedSubscriptions,
} from './pubsub-subscriptions.ts';
import { nameLedger, ScriptRunner, script } from './run-script.ts';

type Notification = Readonly<{ slot: number; method: string; text: string }>;

/** Roots that pass after the last step until all notifications have been sent. */
const ROOTS_AFTER = 3;
const RESPONSE_TIMEOUT_MS = 30_000;
const ROOT_SUBSCRIPTION = 'root';

/** One connection with all subscriptions. */
class Subscriber {
  readonly #socket: RawSocket;
  readonly #names = new Map<string, string[]>();
  readonly #received = new Map<string, Notification[]>();
  readonly #answered = new Map<string, PromiseWithResolvers<string>>();
  root = 0;

  constructor(socket: RawSocket) {
    this.#socket = socket;
    void this.#read();
  }

  /** @throws Error when the server refuses. */
  async subscribe(name: string, method: string, params: string | undefined): Promise<void> {
    const answered = Promise.withResolvers<string>();
    this.#answered.set(name, answered);
    this.#received.set(name, []);
    this.#socket.send(textFrame(call(method, params, JSON.stringify(name))));
    const response = await answered.promise;
    if (!/"result":\d+/.test(response)) throw new Error(`${name}: ${response}`);
  }

  notifications(name: string): readonly Notification[] {
    return this.#received.get(name) ?? [];
  }

  close(): void {
    this.#socket.destroy();
  }

  async #read(): Promise<void> {
    for (;;) {
      const received = await this.#socket.next(RESPONSE_TIMEOUT_MS);
      if (received === null) continue;
      if (received.kind === 'end') return;
      if (received.kind === 'text') this.#receive(received.text);
    }
  }

  #receive(text: string): void {
    const message = JSON.parse(text);
    if (message.id !== undefined) {
      const id = String(message.result);
      // Names of equal subscriptions share an id.
      this.#names.set(id, [...(this.#names.get(id) ?? []), message.id]);
      this.#answered.get(message.id)?.resolve(text);
      return;
    }
    const { result, subscription } = message.params;
    for (const name of this.#names.get(String(subscription)) ?? []) {
      if (name === ROOT_SUBSCRIPTION) this.root = result;
      const slot = result.context?.slot ?? 0;
      this.#received.get(name)?.push({ slot, method: message.method, text });
    }
  }
}

const withoutId = (text: string): string => text.replace(/,"subscription":\d+\}\}$/, '}}');

/** What differs between two ledgers in notifications, besides the rules of rules.ts. */
const notificationRules: readonly Readonly<{ pattern: RegExp; replacement: string; why: string }>[] = [
  { pattern: /("parentSlot":)"[^"]*"/g, replacement: '$1"<slot>"', why: 'slots pass between two steps' },
  {
    pattern: /\d+ of \d+ compute units/g,
    replacement: '<units>',
    why: 'depends on the release of a program',
  },
  {
    pattern: /("computeUnitsConsumed":|"costUnits":)\d+/g,
    replacement: '$1"<units>"',
    why: 'depends on the release of a program',
  },
  {
    pattern: /"lamports":\d+,"postBalance":\d+(?=,"rewardType":"Fee")/g,
    replacement: '"lamports":"<fees>","postBalance":"<balance>"',
    why: 'the fees of the votes in a block',
  },
  {
    pattern: /"[1-9A-HJ-NP-Za-km-z]{86,88}"/g,
    replacement: '"<signature>"',
    why: 'signatures of further signers',
  },
];

/**
 * Accounts that change without the script: the identity pays for votes, the faucet is random. An unavailable block is
 * sent once it is stored.
 */
const isNoise = (text: string): boolean =>
  /"pubkey":"(<identity>|<faucet>|[1-9A-HJ-NP-Za-km-z]{32,44})","account"/.test(text) ||
  text.includes('"err":"BlockStoreError"');

/** Lines in order; those of one slot sorted if their order is not certain. Agave repeats a block that it cannot show. */
function normalized(
  { method, isUnordered }: RecordedSubscription,
  notifications: readonly Notification[],
  runner: ScriptRunner,
): string[] {
  const normalizer = new Normalizer(runner.names);
  const slots = [...runner.landed.values()].map(({ slot }) => slot);
  // The outcome of an earlier transaction comes with any later slot.
  const isOutcome = method === 'signatureSubscribe';
  const shown = notifications
    .filter(({ slot }) => isOutcome || slots.includes(slot))
    .map(({ slot, method: kind, text }) => {
      const own = notificationRules.reduce(
        (rest, { pattern, replacement }) => rest.replace(pattern, replacement),
        normalizer.normalize(kind, withoutId(text)),
      );
      return { slot, text: isOutcome ? own : `${runner.names.slot(slot)} ${own}` };
    })
    .filter(({ text }) => !isNoise(text));
  if (isUnordered === true) shown.sort((a, b) => a.slot - b.slot || (a.text < b.text ? -1 : 1));
  const lines = shown.map(({ text }) => text);
  return method === 'blockSubscribe' ? [...new Set(lines)] : lines;
}

/** Subscriptions to the progress of slots, of which only the distinct shapes are compared. */
const PROGRESS = ['slot', 'root', 'slotsUpdates', 'vote'];

const shapesOf = (notifications: readonly Notification[]): string[] =>
  [
    ...new Set(
      notifications.map(({ text }) =>
        withoutId(text)
          .replace(/(?<=[:[,])\d+/g, '<n>')
          .replace(/<n>(,<n>)+/g, '<n>…')
          .replace(/"[1-9A-HJ-NP-Za-km-z]{32,88}"/g, '"<base58>"'),
      ),
    ),
  ].sort();

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

async function subscribeAll(
  subscribers: readonly Subscriber[],
  after: string | undefined,
  runner: ScriptRunner,
) {
  const signatures = new Map([...runner.landed].map(([name, { signature }]) => [name, signature]));
  for (const plan of recordedSubscriptions.filter((one) => one.after === after)) {
    const params = paramsOf(plan, signatures);
    await Promise.all(subscribers.map((one) => one.subscribe(plan.name, plan.method, params)));
  }
}

/**
 * Runs steps of the script on a fresh ledger while several servers in front of it are subscribed to everything.
 * @returns for each server, its notifications by subscription.
 */
export async function runNotifications(
  rpcUrl: string,
  nodes: readonly PubsubNode[],
): Promise<PubsubRecording[]> {
  const rpc = new RpcNode({ name: 'node', url: rpcUrl, headers: {} });
  const runner = new ScriptRunner(rpc);
  await nameLedger(rpc, runner.names);
  for (const [name, address] of actorAddresses()) runner.names.add('actor', name, address);
  const subscribers = await Promise.all(
    nodes.map(async ({ url, headers }) => new Subscriber(await RawSocket.open(url, headers))),
  );
  for (const one of subscribers)
    for (const kind of PROGRESS) await one.subscribe(kind, `${kind}Subscribe`, undefined);
  await subscribeAll(subscribers, undefined, runner);
  for (const step of script.filter(({ name }) => notifyingSteps.includes(name))) {
    await runner.run(step);
    await subscribeAll(subscribers, step.name, runner);
  }
  const last = Math.max(...[...runner.landed.values()].map(({ slot }) => slot));
  while (subscribers.some(({ root }) => root < last + ROOTS_AFTER)) await pause(20);
  for (const one of subscribers) one.close();
  return subscribers.map((one) => {
    const shapes = PROGRESS.map((kind) => [kind, [shapesOf(one.notifications(kind))]] as const);
    const lines = recordedSubscriptions.map(
      (plan) => [plan.name, [normalized(plan, one.notifications(plan.name), runner)]] as const,
    );
    return new Map([...shapes, ...lines]);
  });
}
