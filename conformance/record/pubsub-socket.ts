import { randomBytes } from 'node:crypto';
import { connect, type Socket } from 'node:net';

/** A WebSocket frame as sent, valid or not. */
export type Frame = Readonly<{
  opcode: number;
  payload: Buffer;
  /** Default: true. */
  fin?: boolean;
  /** Default: true, as RFC 6455 requires of clients. */
  masked?: boolean;
  /** Reserved bits, 0 to 7. Default: 0. */
  reserved?: number;
}>;

export const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export const textFrame = (text: string): Frame => ({ opcode: opcodes.text, payload: Buffer.from(text) });

/** What a server did: a data or control frame, or the end of the connection. */
export type Received = Readonly<
  { kind: 'text'; text: string } | { kind: 'frame'; opcode: number; payload: Buffer } | { kind: 'end' }
>;

const [LENGTH_16, LENGTH_64, HEAD_END] = [126, 127, '\r\n\r\n'];
/** Time for the response to an upgrade request. */
const HANDSHAKE_TIMEOUT_MS = 5_000;

function encodeFrame({ opcode, payload, fin = true, masked = true, reserved = 0 }: Frame): Buffer {
  const { length } = payload;
  const extended = length < LENGTH_16 ? 0 : length < 0x10000 ? 2 : 8;
  const head = Buffer.alloc(2 + extended);
  head[0] = (fin ? 0x80 : 0) | (reserved << 4) | opcode;
  head[1] = (masked ? 0x80 : 0) | (extended === 0 ? length : extended === 2 ? LENGTH_16 : LENGTH_64);
  if (extended === 2) head.writeUInt16BE(length, 2);
  if (extended === 8) head.writeBigUInt64BE(BigInt(length), 2);
  if (!masked) return Buffer.concat([head, payload]);
  const mask = randomBytes(4);
  return Buffer.concat([head, mask, payload.map((byte, at) => byte ^ (mask[at % 4] as number))]);
}

type Decoded = Readonly<{ fin: boolean; opcode: number; payload: Buffer; bytes: number }>;

/** @returns null if the frame is not complete. */
function decodeFrame(buffer: Buffer): Decoded | null {
  if (buffer.length < 2) return null;
  const short = (buffer[1] as number) & 0x7f;
  const head = short === LENGTH_16 ? 4 : short === LENGTH_64 ? 10 : 2;
  if (buffer.length < head) return null;
  const length = head === 2 ? short : head === 4 ? buffer.readUInt16BE(2) : Number(buffer.readBigUInt64BE(2));
  if (buffer.length < head + length) return null;
  const first = buffer[0] as number;
  return {
    fin: (first & 0x80) !== 0,
    opcode: first & 0x0f,
    payload: buffer.subarray(head, head + length),
    bytes: head + length,
  };
}

/** Lines of an upgrade request. */
export function upgradeRequest({ host, pathname, search }: URL, headers: Readonly<Record<string, string>>) {
  const all = {
    host,
    upgrade: 'websocket',
    connection: 'Upgrade',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    ...headers,
  };
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}`);
  return [`GET ${pathname}${search} HTTP/1.1`, ...lines];
}

/** A WebSocket client that can send what the protocol forbids, and that shows each frame it receives. */
export class RawSocket {
  readonly #socket: Socket;
  readonly #received: Received[] = [];
  #buffer: Buffer = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #onReceived: (() => void) | null = null;

  private constructor(socket: Socket) {
    this.#socket = socket;
  }

  /** Sends an upgrade request as given. @returns the head of the response, '' if the server only disconnected. */
  static async handshake(url: URL, lines: readonly string[]): Promise<{ head: string; socket: RawSocket }> {
    const socket = connect({ host: url.hostname, port: Number(url.port) });
    socket.setNoDelay(true);
    const raw = new RawSocket(socket);
    const head = new Promise<string>((resolve) => {
      let text = '';
      const timer = setTimeout(() => resolve(text), HANDSHAKE_TIMEOUT_MS);
      const onData = (data: Buffer): void => {
        text += data.toString('latin1');
        const end = text.indexOf(HEAD_END);
        if (end < 0) return;
        socket.off('data', onData);
        clearTimeout(timer);
        raw.#follow(Buffer.from(text.slice(end + HEAD_END.length), 'latin1'));
        resolve(text.slice(0, end));
      };
      socket.on('data', onData);
      socket.on('error', () => {});
      socket.on('close', () => {
        clearTimeout(timer);
        resolve(text);
      });
    });
    socket.write(`${lines.join('\r\n')}${HEAD_END}`);
    return { head: await head, socket: raw };
  }

  /** @throws Error if the server does not accept. */
  static async open(url: URL, headers: Readonly<Record<string, string>> = {}): Promise<RawSocket> {
    const { head, socket } = await RawSocket.handshake(url, upgradeRequest(url, headers));
    if (head.startsWith('HTTP/1.1 101')) return socket;
    socket.destroy();
    throw new Error(`no WebSocket at ${url.host}: ${head.split('\r\n')[0]}`);
  }

  send(frame: Frame): void {
    this.#socket.write(encodeFrame(frame));
  }

  /** The next thing received; null after `timeoutMs`. */
  async next(timeoutMs: number): Promise<Received | null> {
    if (this.#received.length === 0) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, timeoutMs);
        this.#onReceived = () => {
          clearTimeout(timer);
          resolve();
        };
      });
      this.#onReceived = null;
    }
    return this.#received.shift() ?? null;
  }

  destroy(): void {
    this.#socket.destroy();
  }

  #follow(first: Buffer): void {
    this.#socket.on('data', (data: Buffer) => this.#decode(data));
    this.#socket.on('close', () => this.#push({ kind: 'end' }));
    this.#decode(first);
  }

  #decode(data: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, data]);
    for (let frame = decodeFrame(this.#buffer); frame !== null; frame = decodeFrame(this.#buffer)) {
      this.#buffer = this.#buffer.subarray(frame.bytes);
      this.#receive(frame);
    }
  }

  #receive({ fin, opcode, payload }: Decoded): void {
    if (opcode !== opcodes.text && opcode !== opcodes.continuation) {
      this.#push({ kind: 'frame', opcode, payload });
      return;
    }
    this.#fragments.push(payload);
    if (fin) this.#push({ kind: 'text', text: Buffer.concat(this.#fragments.splice(0)).toString() });
  }

  #push(received: Received): void {
    this.#received.push(received);
    this.#onReceived?.();
  }
}
