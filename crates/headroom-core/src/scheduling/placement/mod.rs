//! p
mod table;
fn f(mut t: table::Table<u32>) -> u32 { t[3] = 1; t[3] }
