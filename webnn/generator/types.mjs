export const typesOf = () => ({ module: '', global: '' });
