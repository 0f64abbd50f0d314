import * as kit from '@solana/kit';
import type { Watched } from './ledger-truth.ts';
import { type Kind, ReceivedNotifications } from './received.ts';

type Pending<T> = { subscribe(options: { abortSignal: AbortSignal }): Promise<AsyncIterable<T>> };

/** @solana/kit as published. */
export class KitClient {
  readonly received: ReceivedNotifications[] = [];
  readonly #rpc: ReturnType<typeof kit.createSolanaRpcSubscriptions_UNSTABLE>;
  readonly #end = new AbortController();

  private constructor(wsUrl: string) {
    this.#rpc = kit.createSolanaRpcSubscriptions_UNSTABLE(wsUrl);
  }

  static async open(wsUrl: string, watched: Watched): Promise<KitClient> {
    const client = new KitClient(wsUrl);
    const rpc = client.#rpc;
    const commitment = 'confirmed';
    const { account, mentioned, program } = watched;
    await client.#follow(
      'account',
      rpc.accountNotifications(kit.address(account), { commitment, encoding: 'base64' }),
      (incoming, { context, value }) => incoming.add(Number(context.slot), account, String(value.lamports)),
    );
    const filters = [{ dataSize: 0n }];
    await client.#follow(
      'program',
      rpc.programNotifications(kit.address(program), { commitment, encoding: 'base64', filters }),
      (incoming, { context, value }) =>
        incoming.add(Number(context.slot), value.pubkey, String(value.account.lamports)),
    );
    await client.#follow(
      'logs',
      rpc.logsNotifications('all', { commitment }),
      (incoming, { context, value }) => incoming.add(Number(context.slot), value.signature),
    );
    await client.#follow(
      'mentions',
      rpc.logsNotifications({ mentions: [kit.address(mentioned)] }, { commitment }),
      (incoming, { context, value }) => incoming.add(Number(context.slot), value.signature),
    );
    await client.#follow('slot', rpc.slotNotifications(), (incoming, { slot }) =>
      incoming.add(Number(slot), String(slot)),
    );
    await client.#follow('root', rpc.rootNotifications(), (incoming, root) =>
      incoming.add(Number(root), String(root)),
    );
    await client.#follow(
      'block',
      rpc.blockNotifications('all', { commitment, transactionDetails: 'signatures' }),
      (incoming, { value }) => incoming.add(Number(value.slot), String(value.slot)),
    );
    client.received.push(new ReceivedNotifications('kit', 'signature'));
    return client;
  }

  /** Waits for a transaction. */
  async expect(signature: string): Promise<void> {
    const incoming = this.received.find(({ kind }) => kind === 'signature')!;
    const pending = this.#rpc.signatureNotifications(kit.signature(signature), { commitment: 'confirmed' });
    const reported = await pending.subscribe({ abortSignal: AbortSignal.any([this.#end.signal]) });
    void this.#drain(reported, ({ context }) => incoming.add(Number(context.slot), signature)).catch(
      () => {},
    );
  }

  close(): void {
    this.#end.abort();
  }

  async #follow<T>(
    kind: Kind,
    pending: Pending<T>,
    note: (incoming: ReceivedNotifications, reported: T) => void,
  ): Promise<void> {
    const incoming = new ReceivedNotifications('kit', kind);
    this.received.push(incoming);
    const reported = await pending.subscribe({ abortSignal: this.#end.signal });
    void this.#drain(reported, (one) => note(incoming, one)).catch((fault: unknown) => {
      incoming.ended = String(fault);
    });
  }

  async #drain<T>(reported: AsyncIterable<T>, note: (one: T) => void): Promise<void> {
    for await (const one of reported) note(one);
  }
}
