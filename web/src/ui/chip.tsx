import type { ReactNode } from 'react';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

/** A short word of state. The colour repeats what the word says. */
export const Chip = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`chip chip-${tone}`}>{children}</span>
);
