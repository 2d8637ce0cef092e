/// Whether decisions are carried out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Mode {
    /// They are.
    #[default]
    Serve,
    /// Nothing similar is served: it shows what would be, at the price of no hit. Equal requests are
    /// served as ever. A response says [`Outcome::Shadow`](crate::Outcome::Shadow).
    ///
    /// Under a bound every would-be hit is an audit, so it also shows how much would be wrong.
    Shadow,
}
