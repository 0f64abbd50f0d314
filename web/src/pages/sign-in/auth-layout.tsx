import { type ReactNode, useEffect } from 'react';
import { ModeBanner } from '../../shell/mode-banner.tsx';
import { ThemeSwitch } from '../../shell/user-menu.tsx';
import { Mark } from '../../ui/icon.tsx';

export function AuthLayout({ title, children }: { title: string; children: ReactNode }) {
  useEffect(() => {
    document.title = `${title} · Solway`;
  }, [title]);
  return (
    <main className="alone">
      <div className="auth-card">
        <div className="row-apart">
          <Mark size={36} />
          <ThemeSwitch />
        </div>
        <ModeBanner />
        <h1>{title}</h1>
        {children}
      </div>
    </main>
  );
}
