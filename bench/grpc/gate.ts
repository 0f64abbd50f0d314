import { Admission } from '../../src/access/admission.ts';
import { KeyWatch } from '../../src/access/key-watch.ts';
import { MessagePace } from '../../src/access/message-pace.ts';
import { UsageMeter } from '../../src/access/usage.ts';
import type { Logger } from '../../src/base/log.ts';
import { CallMeter } from '../../src/gateway/call-meter.ts';
import { GeyserGate } from '../../src/gateway/geyser/geyser-gate.ts';
import type { StreamOpener } from '../../src/streams/geyser/stream-opener.ts';
import { openDirectory } from '../one-key.ts';

const MANY = 1_000_000;

/** The gateway's way of streams, with one key that opens them. */
export function openGate(standard: StreamOpener, log: Logger): { gate: GeyserGate; secret: string } {
  const { keys, secret } = openDirectory('grpc', {
    grpcStreamsMax: MANY,
    grpcFiltersMax: MANY,
    grpcBlocksMax: MANY,
    grpcPubkeysMax: MANY,
  });
  const gate = new GeyserGate({
    admission: new Admission({ keys }),
    meter: new CallMeter({ usage: new UsageMeter() }),
    pace: new MessagePace(),
    watch: new KeyWatch(keys, { refusal: () => null }),
    standard,
    shred: null,
    network: 'mainnet-beta',
    log,
  });
  return { gate, secret };
}
