declare module '*.jpg' {
  const asset: number;
  export default asset;
}
