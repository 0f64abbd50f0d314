import { useRouterState } from '@tanstack/react-router';
import { type ReactNode, useEffect, useRef } from 'react';
import { Ago } from '../ui/time.tsx';
import { docsLinkOf } from './docs-links.ts';
import { RangePicker } from './range-picker.tsx';

/** Moves focus to the title on navigation, for keyboard and screen reader users. */
export function Page({
  title,
  question,
  updatedAt,
  ranged = false,
  actions,
  children,
}: {
  title: string;
  question?: ReactNode;
  updatedAt?: number;
  ranged?: boolean;
  actions?: ReactNode;
  children: ReactNode;
}) {
  const heading = useRef<HTMLHeadingElement>(null);
  const path = useRouterState({ select: (state) => state.location.pathname });
  const first = useRef(true);

  useEffect(() => {
    document.title = `${title} · Solway`;
  }, [title]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: runs on every path change
  useEffect(() => {
    if (first.current && window.history.length <= 1) return;
    first.current = false;
    heading.current?.focus({ preventScroll: true });
  }, [path]);

  return (
    <div className="page">
      <header className="page-head">
        <div className="page-title">
          <h1 ref={heading} tabIndex={-1}>
            {title}
          </h1>
          {question === undefined ? null : <p className="page-question">{question}</p>}
        </div>
        <div className="page-tools">
          {updatedAt === undefined || updatedAt === 0 ? null : (
            <span className="freshness">
              Updated <Ago at={updatedAt} />
            </span>
          )}
          {ranged ? <RangePicker /> : null}
          <a href={docsLinkOf(path)} target="_blank" rel="noopener">
            Docs
          </a>
          {actions}
        </div>
      </header>
      {children}
    </div>
  );
}
