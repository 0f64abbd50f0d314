import { type ReactNode, useId } from 'react';

export function Panel({
  title,
  aside,
  note,
  children,
}: {
  title: string;
  aside?: ReactNode;
  note?: ReactNode;
  children: ReactNode;
}) {
  const id = useId();
  return (
    <section className="panel" aria-labelledby={id}>
      <header className="panel-head">
        <h2 id={id}>{title}</h2>
        {aside === undefined ? null : <div className="panel-aside">{aside}</div>}
      </header>
      {note === undefined ? null : <p className="panel-note">{note}</p>}
      {children}
    </section>
  );
}
