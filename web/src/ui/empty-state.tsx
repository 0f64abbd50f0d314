import type { ReactNode } from 'react';
import { Snippet } from './snippet.tsx';

export const EmptyState = ({
  title,
  children,
  snippet,
  action,
}: {
  title: string;
  children?: ReactNode;
  snippet?: string;
  action?: ReactNode;
}) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children === undefined ? null : <div className="empty-text">{children}</div>}
    {snippet === undefined ? null : <Snippet text={snippet} label="example" />}
    {action}
  </div>
);
