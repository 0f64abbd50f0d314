import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export type ReceivedRequest = Readonly<{
  method: string;
  path: string;
  query: URLSearchParams;
  authorization: string | undefined;
}>;

export class ScriptedService {
  readonly requests: ReceivedRequest[] = [];
  readonly #server: Server;

  private constructor(
    answer: (requested: ReceivedRequest, request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ) {
    this.#server = createServer((request, response) => {
      const { pathname, searchParams } = new URL(request.url ?? '/', 'http://x');
      const { authorization } = request.headers;
      const requested = { method: request.method ?? '', path: pathname, query: searchParams, authorization };
      this.requests.push(requested);
      answer(requested, request, response).catch(() => response.destroy());
    });
  }

  static async start(
    answer: (requested: ReceivedRequest, request: IncomingMessage, response: ServerResponse) => Promise<void>,
  ): Promise<ScriptedService> {
    const service = new ScriptedService(answer);
    await new Promise<void>((resolve) => service.#server.listen(0, '127.0.0.1', resolve));
    return service;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export async function bodyOf(request: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece);
  return Buffer.concat(pieces);
}

export function sendJson(response: ServerResponse, status: number, ...lines: readonly unknown[]): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(lines.map((line) => `${JSON.stringify(line)}\n`).join(''));
}
