import type { Behaviour } from './server.ts';
import { type Told, telling } from './telling.ts';

/** Tells of one slot for ever. */
export const frozenSlot = (told: Told): Behaviour => telling({ ...told, slot: 4_950 });
