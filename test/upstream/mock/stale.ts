import type { Behaviour } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Says that it is healthy, and has shreds of far newer slots than it has replayed. */
export const stale = (told: Told): Behaviour => telling({ ...told, slot: 4_900, shreds: 5_200 });
