import { SocketClient } from '../../service/socket-client.ts';

type SlotInfo = Readonly<{ slot: number; parent: number }>;

/** A slot subscription that checks that each slot follows the previous one. */
export class SlotListener {
  readonly faults: string[] = [];
  received = 0;
  readonly #name: string;
  readonly #socket: SocketClient;
  readonly #came: () => void;
  #last: number | null = null;

  /** @param came - called for each notification. */
  static async open(name: string, url: string, came: () => void): Promise<SlotListener> {
    const listener = new SlotListener(name, await SocketClient.open(url), came);
    await listener.#subscribe();
    return listener;
  }

  private constructor(name: string, socket: SocketClient, came: () => void) {
    this.#name = name;
    this.#socket = socket;
    this.#came = came;
    socket.socket.on('close', (code, reason) =>
      this.faults.push(`${name} was closed with ${code} ${reason}`),
    );
  }

  close(): void {
    this.#socket.socket.removeAllListeners('close');
    this.#socket.socket.terminate();
  }

  async #subscribe(): Promise<void> {
    const id = await this.#socket.result<number>('slotSubscribe');
    void this.#follow(id);
  }

  async #follow(id: number): Promise<never> {
    for (;;) this.#take((await this.#socket.next<SlotInfo>(id)).result);
  }

  #take({ slot, parent }: SlotInfo): void {
    this.received++;
    this.#came();
    if (this.#last !== null && parent !== this.#last) {
      this.faults.push(`${this.#name} received slot ${slot} on ${parent} after ${this.#last}`);
    }
    this.#last = slot;
  }
}
