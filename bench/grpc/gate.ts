import type { Logger } from '../../src/base/log.ts';
import { Admission } from '../../src/gateway/admission.ts';
import { KeyWatch } from '../../src/gateway/auth/key-watch.ts';
import { GeyserGateway } from '../../src/gateway/geyser/geyser-gateway.ts';
import { MessageRateLimiter } from '../../src/gateway/limits/message-rate-limiter.ts';
import { CallMeter } from '../../src/gateway/metering/call-meter.ts';
import { UsageMeter } from '../../src/gateway/metering/usage-meter.ts';
import type { StreamOpener } from '../../src/streams/geyser/geyser-handler.ts';
import { openDirectory } from '../one-key.ts';

const MANY = 1_000_000;

/** A gRPC gateway with one key. */
export function openGate(standard: StreamOpener, log: Logger): { gate: GeyserGateway; secret: string } {
  const { keys, secret } = openDirectory('grpc', {
    grpcStreamsMax: MANY,
    grpcFiltersMax: MANY,
    grpcBlocksMax: MANY,
    grpcPubkeysMax: MANY,
  });
  const gate = new GeyserGateway({
    admission: new Admission({ keys }),
    meter: new CallMeter({ usage: new UsageMeter() }),
    messageLimiter: new MessageRateLimiter(),
    watch: new KeyWatch(keys, { rejection: () => null }),
    standard,
    shred: null,
    network: 'mainnet-beta',
    log,
  });
  return { gate, secret };
}
