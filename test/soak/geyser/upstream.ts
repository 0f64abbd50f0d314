import { createLogger } from '../../../src/base/log.ts';
import { GrpcServer } from '../../../src/servers/grpc/server.ts';
import { UnauthenticatedHandler } from '../../../src/streams/geyser/geyser-handler.ts';
import { GeyserHub } from '../../../src/streams/geyser/geyser-hub.ts';
import { type Drawing, FIRST_SLOT, RandomLedger } from './random-ledger.ts';

/**
 * A Yellowstone server of a generated ledger, in a process of its own that may be killed at any time: its past updates
 * follow from the time. Arguments: port, and parameters of the ledger as JSON.
 */

const [, , portText = '0', drawingText = '{}'] = process.argv;
const drawing = JSON.parse(drawingText) as Drawing;
/** Slots for replay after a restart. */
const REMEMBERED = 100;
const TICK_MS = 10;
const MANY = 1024 ** 3;

const ledger = new RandomLedger(drawing);
const hub = new GeyserHub({ replaySlots: REMEMBERED });
const log = createLogger('error', (line) => process.stderr.write(`${line}\n`));
const server = new GrpcServer(
  { handler: new UnauthenticatedHandler(hub), health: () => true, log },
  { port: Number(portText), queueMaxBytes: MANY, queueMaxMessages: MANY, queuesMaxBytes: MANY },
);

let slot = Math.max(FIRST_SLOT, ledger.slotAt(Date.now()) - REMEMBERED);
let reported = 0;

/** Sends all updates that are due. */
function catchUp(): void {
  const now = Date.now();
  for (;;) {
    const age = now - drawing.startedAt - (slot - FIRST_SLOT) * drawing.slotMs;
    const due = Math.min(drawing.updatesPerSlot, Math.floor((age / drawing.slotMs) * drawing.updatesPerSlot));
    if (reported === 0 && due > 0) for (const update of ledger.beginning(slot)) hub.onUpdate(update);
    for (const update of ledger.content(slot, reported, due)) hub.onUpdate(update);
    reported = Math.max(reported, due);
    if (reported < drawing.updatesPerSlot) return;
    for (const update of ledger.end(slot)) hub.onUpdate(update);
    slot++;
    reported = 0;
  }
}

catchUp();
setInterval(catchUp, TICK_MS);
const { port } = await server.listen();
process.send?.({ port });
process.on('disconnect', () => process.exit());
