import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

export type WebhookCall = Readonly<{ path: string; headers: IncomingHttpHeaders; body: string }>;

/** Receives webhooks, and responds with the next of `statuses`, or 204. */
export class WebhookReceiver {
  readonly calls: WebhookCall[] = [];
  statuses: number[] = [];
  readonly #server = createServer((request, response) => {
    let body = '';
    request.on('data', (text) => (body += text));
    request.on('end', () => {
      this.calls.push({ path: request.url ?? '', headers: request.headers, body });
      response.writeHead(this.statuses.shift() ?? 204).end();
    });
  });

  /** @returns the port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return (this.#server.address() as AddressInfo).port;
  }

  reset(): void {
    this.calls.length = 0;
    this.statuses = [];
  }

  close(): void {
    this.#server.close();
  }
}
