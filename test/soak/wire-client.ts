import { once } from 'node:events';
import { WebSocket } from 'ws';
import type { Watched } from './ledger-truth.ts';
import { type Kind, ReceivedNotifications } from './received.ts';

type Context<Value> = { context: { slot: number }; value: Value };
// biome-ignore lint/suspicious/noExplicitAny: each kind has a shape of its own
type Result = any;

type Listener = (result: Result, id: number) => void;

/** Records a notification of a kind. */
const notes: Readonly<
  Record<
    Exclude<Kind, 'signature'>,
    (incoming: ReceivedNotifications, result: Result, watched: Watched) => void
  >
> = {
  account: (incoming, { context, value }: Context<{ lamports: number }>, { account }) =>
    incoming.add(context.slot, account, String(value.lamports)),
  program: (incoming, { context, value }: Context<{ pubkey: string; account: { lamports: number } }>) =>
    incoming.add(context.slot, value.pubkey, String(value.account.lamports)),
  logs: (incoming, { context, value }: Context<{ signature: string }>) =>
    incoming.add(context.slot, value.signature),
  mentions: (incoming, { context, value }: Context<{ signature: string }>) =>
    incoming.add(context.slot, value.signature),
  slot: (incoming, { slot }: { slot: number }) => incoming.add(slot, String(slot)),
  root: (incoming, slot: number) => incoming.add(slot, String(slot)),
  block: (incoming, { value }: Context<{ slot: number }>) => incoming.add(value.slot, String(value.slot)),
  transaction: (incoming, { slot, signature }: { slot: number; signature: string }) =>
    incoming.add(slot, signature),
};

/** A plain client, which exposes subscription ids. */
export class WireClient {
  readonly received: ReceivedNotifications[] = [];
  readonly #socket: WebSocket;
  readonly #answers = new Map<number, (id: number) => void>();
  readonly #listeners = new Map<number, Listener>();
  #nextId = 1;

  private constructor(url: string) {
    this.#socket = new WebSocket(url);
    this.#socket.on('message', (data) => this.#take(JSON.parse(String(data))));
    this.#socket.on('close', (code, reason) => {
      for (const incoming of this.received) incoming.ended ??= `closed with ${code} ${reason}`;
    });
  }

  static async open(url: string, watched: Watched): Promise<WireClient> {
    const client = new WireClient(url);
    await once(client.#socket, 'open');
    const { account, mentioned, program } = watched;
    const commitment = 'confirmed';
    const requests: Readonly<Record<Exclude<Kind, 'signature'>, readonly unknown[]>> = {
      account: [account, { commitment, encoding: 'base64' }],
      program: [program, { commitment, encoding: 'base64', filters: [{ dataSize: 0 }] }],
      logs: ['all', { commitment }],
      mentions: [{ mentions: [mentioned] }, { commitment }],
      slot: [],
      root: [],
      block: ['all', { commitment, transactionDetails: 'signatures' }],
      transaction: [
        { vote: false, accountInclude: [mentioned] },
        { commitment, transactionDetails: 'signatures' },
      ],
    };
    for (const [kind, params] of Object.entries(requests)) {
      await client.#subscribe(kind as keyof typeof requests, params, watched);
    }
    client.received.push(new ReceivedNotifications('wire', 'signature'));
    return client;
  }

  /** Waits for a transaction. */
  async expect(signature: string): Promise<void> {
    const incoming = this.received.find(({ kind }) => kind === 'signature')!;
    await this.#request('signatureSubscribe', [signature, { commitment: 'confirmed' }], ({ context }) =>
      incoming.add(context.slot, signature),
    );
  }

  close(): void {
    this.#socket.removeAllListeners('close');
    this.#socket.close();
  }

  async #subscribe(
    kind: Exclude<Kind, 'signature'>,
    params: readonly unknown[],
    watched: Watched,
  ): Promise<void> {
    const incoming = new ReceivedNotifications('wire', kind);
    this.received.push(incoming);
    const method = kind === 'mentions' ? 'logsSubscribe' : `${kind}Subscribe`;
    incoming.id = await this.#request(method, params, (result, reported) => {
      incoming.ids.add(reported);
      notes[kind](incoming, result, watched);
    });
  }

  #request(method: string, params: readonly unknown[], listener: Listener): Promise<number> {
    const request = this.#nextId++;
    this.#socket.send(JSON.stringify({ jsonrpc: '2.0', id: request, method, params }));
    return new Promise((resolve) =>
      this.#answers.set(request, (id) => {
        // At once: a notification may directly follow the acknowledgement.
        this.#listeners.set(id, listener);
        resolve(id);
      }),
    );
  }

  #take(message: {
    id?: number;
    result?: number;
    error?: unknown;
    params?: { result: Result; subscription: number };
  }): void {
    if (message.params !== undefined) {
      const { result, subscription } = message.params;
      const listener = this.#listeners.get(subscription);
      if (listener !== undefined) listener(result, subscription);
      // An unknown id counts against every subscription.
      else for (const incoming of this.received) incoming.ids.add(subscription);
      return;
    }
    if (message.error !== undefined) throw new Error(`the gateway answered ${JSON.stringify(message)}`);
    this.#answers.get(message.id ?? 0)?.(message.result ?? -1);
  }
}
