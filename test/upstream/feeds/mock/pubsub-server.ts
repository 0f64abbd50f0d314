import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { type WebSocket, WebSocketServer } from 'ws';

export type PubsubRequest = Readonly<{ id: number; method: string; params: readonly unknown[]; raw: string }>;

export type PubsubBehaviour = (request: PubsubRequest, peer: Peer) => void;

export class Peer {
  readonly socket: WebSocket;
  readonly ids = new Map<string, number>();
  #nextId = 100;

  constructor(socket: WebSocket) {
    this.socket = socket;
  }

  send(message: unknown): void {
    this.socket.send(typeof message === 'string' ? message : JSON.stringify(message));
  }

  acknowledge({ id, method }: PubsubRequest): number {
    const given = this.#nextId++;
    this.ids.set(method, given);
    this.send({ jsonrpc: '2.0', result: given, id });
    return given;
  }

  /** Waits until the client has read everything. */
  async read(): Promise<void> {
    this.socket.ping();
    await once(this.socket, 'pong');
  }

  refuse({ id }: PubsubRequest, code: number, message: string): void {
    this.send({ jsonrpc: '2.0', error: { code, message }, id });
  }

  notify(kind: string, result: unknown): void {
    const subscription = this.ids.get(`${kind}Subscribe`);
    this.send({ jsonrpc: '2.0', method: `${kind}Notification`, params: { result, subscription } });
  }
}

export class PubsubMock {
  readonly received: PubsubRequest[] = [];
  readonly peers = new Set<Peer>();
  readonly #server: WebSocketServer;
  readonly #behaviour: PubsubBehaviour;
  #slot: number;

  private constructor(behaviour: PubsubBehaviour, slot: number) {
    this.#behaviour = behaviour;
    this.#slot = slot;
    this.#server = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    this.#server.on('connection', (socket) => this.#attend(new Peer(socket)));
  }

  /** @param slot - first slot sent on each connection. */
  static async start(behaviour: PubsubBehaviour, slot = 1_000): Promise<PubsubMock> {
    const mock = new PubsubMock(behaviour, slot);
    await once(mock.#server, 'listening');
    return mock;
  }

  get url(): string {
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  count(method: string): number {
    return this.received.filter((one) => one.method === method).length;
  }

  tick(slots = 1): void {
    for (let i = 0; i < slots; i++) {
      this.#slot++;
      for (const peer of this.peers) {
        if (peer.ids.has('slotSubscribe')) peer.notify('slot', this.slotInfo());
      }
    }
  }

  slotInfo(): { slot: number; parent: number; root: number } {
    return { slot: this.#slot, parent: this.#slot - 1, root: this.#slot - 32 };
  }

  cut(): void {
    for (const { socket } of this.peers) socket.terminate();
  }

  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #attend(peer: Peer): void {
    this.peers.add(peer);
    peer.socket.on('close', () => this.peers.delete(peer));
    peer.socket.on('error', () => {});
    peer.socket.on('message', (data: Buffer) => {
      const raw = data.toString();
      const request = { ...JSON.parse(raw), raw } as PubsubRequest;
      this.received.push(request);
      this.#behaviour(request, peer);
      // Sends the current slot at once, so that tests do not have to wait.
      if (request.method === 'slotSubscribe' && peer.ids.has('slotSubscribe')) {
        peer.notify('slot', this.slotInfo());
      }
    });
  }
}
