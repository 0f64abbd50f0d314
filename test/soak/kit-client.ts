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
      (heard, { context, value }) => heard.add(Number(context.slot), account, String(value.lamports)),
    );
    const filters = [{ dataSize: 0n }];
    await client.#follow(
      'program',
      rpc.programNotifications(kit.address(program), { commitment, encoding: 'base64', filters }),
      (heard, { context, value }) =>
        heard.add(Number(context.slot), value.pubkey, String(value.account.lamports)),
    );
    await client.#follow('logs', rpc.logsNotifications('all', { commitment }), (heard, { context, value }) =>
      heard.add(Number(context.slot), value.signature),
    );
    await client.#follow(
      'mentions',
      rpc.logsNotifications({ mentions: [kit.address(mentioned)] }, { commitment }),
      (heard, { context, value }) => heard.add(Number(context.slot), value.signature),
    );
    await client.#follow('slot', rpc.slotNotifications(), (heard, { slot }) =>
      heard.add(Number(slot), String(slot)),
    );
    await client.#follow('root', rpc.rootNotifications(), (heard, root) =>
      heard.add(Number(root), String(root)),
    );
    await client.#follow(
      'block',
      rpc.blockNotifications('all', { commitment, transactionDetails: 'signatures' }),
      (heard, { value }) => heard.add(Number(value.slot), String(value.slot)),
    );
    client.received.push(new ReceivedNotifications('kit', 'signature'));
    return client;
  }

  /** Waits for a transaction. */
  async expect(signature: string): Promise<void> {
    const heard = this.received.find(({ kind }) => kind === 'signature')!;
    const pending = this.#rpc.signatureNotifications(kit.signature(signature), { commitment: 'confirmed' });
    const told = await pending.subscribe({ abortSignal: AbortSignal.any([this.#end.signal]) });
    void this.#drain(told, ({ context }) => heard.add(Number(context.slot), signature)).catch(() => {});
  }

  close(): void {
    this.#end.abort();
  }

  async #follow<T>(
    kind: Kind,
    pending: Pending<T>,
    note: (heard: ReceivedNotifications, told: T) => void,
  ): Promise<void> {
    const heard = new ReceivedNotifications('kit', kind);
    this.received.push(heard);
    const told = await pending.subscribe({ abortSignal: this.#end.signal });
    void this.#drain(told, (one) => note(heard, one)).catch((fault: unknown) => {
      heard.ended = String(fault);
    });
  }

  async #drain<T>(told: AsyncIterable<T>, note: (one: T) => void): Promise<void> {
    for await (const one of told) note(one);
  }
}
