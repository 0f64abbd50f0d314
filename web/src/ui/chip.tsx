import type { ReactNode } from 'react';
import { capitalized } from '../format.ts';

export type Tone = 'neutral' | 'good' | 'warn' | 'bad' | 'accent';

export const Chip = ({ tone = 'neutral', children }: { tone?: Tone; children: ReactNode }) => (
  <span className={`chip chip-${tone}`}>
    {typeof children === 'string' ? capitalized(children) : children}
  </span>
);
