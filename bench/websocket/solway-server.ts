import { createLogger } from '../../src/base/log.ts';
import { Admission } from '../../src/gateway/admission.ts';
import { CallMeter } from '../../src/gateway/metering/call-meter.ts';
import { UsageMeter } from '../../src/gateway/metering/usage-meter.ts';
import { WebSocketGateway } from '../../src/gateway/websocket/session.ts';
import { Failure } from '../../src/protocol/errors.ts';
import { HttpServer } from '../../src/servers/http/server.ts';
import { webSocketOptions } from '../../src/servers/websocket/options.ts';
import { WebSocketUpgrade } from '../../src/servers/websocket/server.ts';
import type { Feed, FeedListener } from '../../src/streams/feed.ts';
import { dispatcherOf } from '../../test/upstream/mock/dispatcher.ts';
import { openDirectory } from '../one-key.ts';
import { EVENTS_MADE, resultOf, type ServerMessage, type ServerOrder } from './messages.ts';

/** The WebSocket server with sessions, topics and queues, which emits events on command. */

const MANY = 1_000_000;
const NEVER_MS = 1_000_000_000;

/** Feed that emits account notifications as bytes, in the order of subscription. */
class OrderedFeed implements Feed {
  readonly #results = new Map<FeedListener, readonly Buffer[]>();
  #event = 0;

  async open(_subscription: unknown, listener: FeedListener): Promise<() => void> {
    const account = this.#results.size;
    const results = Array.from({ length: EVENTS_MADE }, (_, event) =>
      Buffer.from(JSON.stringify(resultOf(account, event))),
    );
    this.#results.set(listener, results);
    return () => this.#results.delete(listener);
  }

  emit(events: number): void {
    for (let i = 0; i < events; i++) {
      this.#event = (this.#event + 1) % EVENTS_MADE;
      for (const [listener, results] of this.#results)
        listener.onNotification(results[this.#event] as Buffer, false);
    }
  }
}

const sendMessage = (message: ServerMessage): void => void process.send?.(message);
const feed = new OrderedFeed();
const { keys, secret } = openDirectory('rpc', { wsConnectionsMax: MANY, wsSubscriptionsMax: MANY });
const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
const source = dispatcherOf(() => Promise.reject(new Failure('UPSTREAM_UNAVAILABLE')));
const gate = new WebSocketGateway(
  {
    admission: new Admission({ keys }),
    source,
    meter: new CallMeter({ usage: new UsageMeter() }),
    log,
    feed,
    rejection: () => null,
  },
  { topics: { graceMs: 0 }, subscriptionLimits: { keySubscriptionsMax: MANY, keyAddressesMax: MANY } },
);
// The sink does not answer pings.
const dialect = new WebSocketUpgrade(gate, log, {
  connectionsMax: MANY,
  pingIntervalMs: NEVER_MS,
  idleTimeoutMs: NEVER_MS,
});
const http = new HttpServer(dialect.routes, log, { port: 0, connectionsMax: MANY }, [dialect]);
process.on('message', (order: ServerOrder) => {
  if ('emit' in order) feed.emit(order.emit);
  else {
    globalThis.gc?.();
    sendMessage({ residentBytes: process.memoryUsage.rss() });
  }
});
process.on('SIGTERM', () => process.exit());
const { port } = await http.listen();
sendMessage({ listening: { port, path: `${webSocketOptions.path}?api-key=${secret}` } });
